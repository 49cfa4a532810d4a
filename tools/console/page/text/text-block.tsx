export { TextBlock } from './viewer.tsx';
