import tinymce from 'tinymce';
import 'tinymce/icons/default';
import 'tinymce/models/dom';
import 'tinymce/skins/ui/oxide/skin.js';
import 'tinymce/themes/silver';
import { show } from './widget.js';

const field = (root) => {
  const area = document.createElement('textarea');
  area.id = 'story';
  root.append(area);
  return area;
};

show({
  // Its frame takes keys as soon as it is there, and gets the editor's content once its style sheet has come.
  slow: (root) => {
    field(root);
    addEventListener('load', () => setTimeout(() => tinymce.init({
      selector: '#story', license_key: 'gpl', content_css: '/content.css', promotion: false,
    })));
    window.state = () => tinymce.activeEditor?.initialized && tinymce.activeEditor.getContent({ format: 'text' });
  },
});
