import { useEffect } from "react";

// Command is something that can be done from the palette.
export interface Command {
  id: string;
  title: string;
  group: string;
  // words to find it by, beside the title
  keywords?: string;
  shortcut?: string;
  // why it cannot be done now
  disabled?: string;
  run: () => void;
}

const commands = new Map<string, Command>();

export const paletteCommands = (): Command[] => [...commands.values()];

// useCommands offers commands in the palette while the component is shown.
export function useCommands(list: Command[]): void {
  useEffect(() => {
    for (const command of list) {
      commands.set(command.id, command);
    }
    return () => {
      for (const command of list) {
        if (commands.get(command.id) === command) {
          commands.delete(command.id);
        }
      }
    };
  });
}
