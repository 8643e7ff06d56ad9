"""Tools of the actions: the scene, finding, input, screenshots, dialogs, downloads."""
