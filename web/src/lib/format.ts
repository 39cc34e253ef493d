const numbers = new Intl.NumberFormat("en-US");

// count writes a number for people: 12 500.
export const count = (n: number): string => numbers.format(n).replaceAll(",", "\u202f");

// plural writes a number with its noun.
export function plural(n: number, noun: string, nouns = `${noun}s`): string {
  return `${count(n)} ${n === 1 ? noun : nouns}`;
}

// short is a revision as people say it: the first 8 characters of a commit, anything else as it is.
export function short(revision: string | undefined): string {
  return /^[0-9a-f]{40,64}$/.test(revision ?? "") ? (revision ?? "").slice(0, 8) : (revision ?? "");
}

// repository is the address of a repository without what every address has.
export function repository(url: string | undefined): string {
  return (url ?? "")
    .replace(/^(https?|ssh|git|oci):\/\//, "")
    .replace(/^git@([^:]+):/, "$1/")
    .replace(/\.git$/, "");
}

// upper begins a sentence with a text.
export const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
