export const ReplayView = () => null;
