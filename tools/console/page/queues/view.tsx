export const QueuesView = () => null;
