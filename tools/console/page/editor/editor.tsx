export const Editor = (_: { title: string; text: string; onClose: () => void; onSent: (id: string) => void }) => null;
