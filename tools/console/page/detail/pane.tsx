export const DetailPane = (_: { id: string; onClose: () => void; onSent: (id: string) => void }) => null;
