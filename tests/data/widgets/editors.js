import Quill from 'quill';
import 'quill/dist/quill.snow.css';
import { Editor } from '@tiptap/core';
import StarterKit from '@tiptap/starter-kit';
import { $getRoot, createEditor } from 'lexical';
import { HeadingNode, QuoteNode, registerRichText } from '@lexical/rich-text';
import { show } from './widget.js';

const box = (root) => {
  const element = document.createElement('div');
  element.style = 'border: 1px solid; min-height: 80px';
  root.append(element);
  return element;
};

show({
  quill: (root) => {
    const quill = new Quill(box(root), { theme: 'snow' });
    quill.setText('Old words');
    window.state = () => quill.getContents().ops.map(({ insert, attributes }) => [insert, attributes?.bold ?? false]);
  },
  tiptap: (root) => {
    const editor = new Editor({ element: box(root), extensions: [StarterKit], content: '<p>Old words</p>' });
    window.state = () => editor.getText();
  },
  lexical: (root) => {
    const element = box(root);
    element.contentEditable = 'true';
    element.role = 'textbox';
    element.ariaLabel = 'Story';
    const editor = createEditor({ nodes: [HeadingNode, QuoteNode], onError: (error) => { throw error; } });
    editor.setRootElement(element);
    registerRichText(editor);
    window.state = () => editor.getEditorState().read(() => $getRoot().getTextContent());
  },
});
