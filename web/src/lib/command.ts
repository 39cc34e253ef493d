import { ApiError, type Schemas } from "@/api/client";

export type Command = Schemas["Command"];

// waiting is true where the agent has not answered yet; it will do it when it can.
export const waiting = (command: Command): boolean => command.status === "pending" || command.status === "sent";

// finished is a command that was done. What was not is an error that says why.
export function finished(command: Command): Command {
  if (command.status !== "done") {
    throw new ApiError(409, {
      code: "conflict",
      detail:
        command.message ||
        `The agent did not execute it: the command is ${command.status}. See the commands of agent ${command.agent}.`,
    });
  }
  return command;
}

// accepted is a command that was done, or that the agent will do.
export const accepted = (command: Command): Command => (waiting(command) ? command : finished(command));
