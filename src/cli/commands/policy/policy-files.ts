// Tested by src/cli/commands/policy/dryrun.contract.test.ts.
/** Files and streams of the policy commands, with the errors that Go has for them. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { CliEnvironment } from '../../config.ts'
import type { Terminal } from '../../print/terminal.ts'

/** What a policy command runs with. */
export interface PolicyInput<Flags> {
  readonly terminal: Terminal
  readonly stdin: AsyncIterable<Uint8Array>
  readonly environment: Pick<CliEnvironment, 'variables' | 'defaultKubeconfig'>
  readonly flags: Flags
}

/** A text with the name it is told by: `file a.yaml` or `stdin`. */
interface InputText {
  readonly name: string
  readonly text: string
}

/** The whole standard input. */
export async function readStdin({ stdin }: Pick<PolicyInput<unknown>, 'stdin'>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stdin) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
}

/** Why a file cannot be opened, as Go says it. */
export function openProblem(file: string, cause: unknown, call = 'open'): string {
  const { code = '', message } = cause as NodeJS.ErrnoException
  return code === 'EISDIR' ? `read ${file}: is a directory` : `${call} ${file}: ${PROBLEMS[code] ?? message}`
}

/** A command that failed, in the words of the original; the exit code is 1. */
export class Failed extends Error {}

/** Flags of commands that read a policy and objects. */
export interface InputFlags {
  readonly policy?: string
  readonly mappingsFile?: string
}

/** The texts of a policy, of its kinds and of the objects of the cluster. */
export async function readInputs(
  files: readonly string[],
  input: PolicyInput<InputFlags>,
): Promise<{ readonly policy: string; readonly objects: readonly InputText[]; readonly mappings?: string }> {
  const { policy = '', mappingsFile } = input.flags
  const policyText = await readNamed(policy, 'unable to read input policy')
  const file = mappingsFile ?? input.environment.variables['DRYRUN_MAPPINGS_FILE'] ?? ''
  const mappings = file === '' ? {} : { mappings: await readNamed(file, 'unable to setup the dryrun reconciler') }
  const objects: InputText[] = []
  const stdin = input.terminal.stdinIsTTY ? [] : ['-']
  for (const path of [...stdin, ...(await expand(files))]) {
    if (path === '-') objects.push({ name: 'stdin', text: await readStdin(input) })
    else {
      const words = `unable to read input resources: could not open file ${path}`
      objects.push({ name: `file ${path}`, text: await readNamed(path, words) })
    }
  }
  return { policy: policyText, objects, ...mappings }
}

/** The files, with the files of a directory in its place; directories below are left out. */
async function expand(files: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const file of files) {
    const words = `unable to read input resources: could not open file ${file}`
    const isDirectory =
      file !== '-' && (await orFailed(words, file, async () => (await stat(file)).isDirectory(), 'stat'))
    if (!isDirectory) found.push(file)
    else {
      const entries = await readdir(file, { withFileTypes: true })
      const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
      found.push(...names.sort().map((name) => join(file, name)))
    }
  }
  return found
}

/** Reads a file, with `words` before the error. */
export function readNamed(file: string, words: string): Promise<string> {
  return orFailed(words, file, () => readFile(file, 'utf8'))
}

/** Does something to a file, with `words` before the error. */
export async function orFailed<T>(words: string, file: string, act: () => Promise<T>, call = 'open'): Promise<T> {
  try {
    return await act()
  } catch (cause) {
    throw new Failed(`${words}: ${openProblem(file, cause, call)}`)
  }
}
