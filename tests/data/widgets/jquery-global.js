// The global that jQuery UI's own bundle expects.
import jQuery from 'jquery';

window.jQuery = jQuery;
window.$ = jQuery;
