import { createInterface } from 'node:readline/promises'

/** Asks a yes-or-no question on the terminal. Every answer except yes means no. */
export async function askYesNo(question: string): Promise<boolean> {
  return /^y(es)?$/i.test(await askLine(`${question} [y/N] `))
}

/** Asks the user to type a name. Every other answer means no. */
export async function askName(question: string, name: string): Promise<boolean> {
  return (await askLine(`${question} Type ${name} to continue: `)) === name
}

async function askLine(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await lines.question(question)).trim()
  } finally {
    lines.close()
  }
}
