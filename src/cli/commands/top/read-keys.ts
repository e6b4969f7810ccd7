/** Keys of a terminal in raw mode, from the bytes it sends. */

const NAMES: Readonly<Record<string, string>> = {
  '\u0003': 'ctrl-c',
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u001b': 'escape',
  '\u001b[A': 'up',
  '\u001b[B': 'down',
  '\u001b[C': 'right',
  '\u001b[D': 'left',
  '\u001bOA': 'up',
  '\u001bOB': 'down',
  '\u001bOC': 'right',
  '\u001bOD': 'left',
  '\u001b[5~': 'pageup',
  '\u001b[6~': 'pagedown',
}

/** A sequence of a key, or one character. */
const KEY = /\u001b(?:\[[0-?]*[ -/]*[@-~]|O[A-Za-z])|[\s\S]/gu

/** The keys in the text of one read; keys without a name here are left out. */
export function readKeys(text: string): readonly string[] {
  return (text.match(KEY) ?? []).flatMap((key) => NAMES[key] ?? (/^\P{C}$/u.test(key) ? [key] : []))
}
