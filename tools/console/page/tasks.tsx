export const TaskDock = () => null;
export const TasksButton = () => null;
