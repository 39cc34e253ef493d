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

// hits says whether each word is somewhere in the parts, small and large letters alike.
export function hits(words: readonly string[], ...parts: (string | undefined)[]): boolean {
  const text = parts.join(" ").toLowerCase();
  return words.every((word) => text.includes(word.toLowerCase()));
}

// Finder finds commands by what is typed, where there are too many to offer all of them.
export interface Finder {
  // id is another one where it would find something else.
  id: string;
  // heading is over what it finds.
  heading: string;
  find: (words: string[]) => Promise<Command[]>;
}

const finders = new Map<string, Finder>();

export const paletteFinders = (): Finder[] => [...finders.values()];

// useFinder has the palette ask it while the component is shown.
export function useFinder(finder: Finder): void {
  useEffect(() => {
    finders.set(finder.id, finder);
    return () => {
      if (finders.get(finder.id) === finder) {
        finders.delete(finder.id);
      }
    };
  });
}
