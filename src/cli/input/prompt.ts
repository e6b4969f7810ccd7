import { createInterface } from 'node:readline/promises'

/** Asks a yes-or-no question on the terminal; anything but yes is no. */
export async function askYesNo(question: string): Promise<boolean> {
  return /^y(es)?$/i.test(await askLine(`${question} [y/N] `))
}

/** Asks a person to type a name; anything else is no. */
export async function askName(question: string, name: string): Promise<boolean> {
  return (await askLine(`${question} Type ${name} to go on: `)) === name
}

async function askLine(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await lines.question(question)).trim()
  } finally {
    lines.close()
  }
}
