/** Plugins: a program `flotilla-NAME` in PATH is the command `flotilla NAME`. */
import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { CliError, EXIT } from '../errors/cli-error.ts'

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/

/** The program of a plugin. Undefined if there is none. Relative folders of PATH are not searched. */
export function findPlugin(name: string, folders: readonly string[]): string | undefined {
  if (!NAME.test(name)) return undefined
  const files = folders.filter((folder) => folder.startsWith('/')).map((folder) => join(folder, `flotilla-${name}`))
  return files.find(isProgram)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** Runs a plugin with the streams of this process. Returns its exit code, or 130 if a signal ended it. */
export async function runPlugin(file: string, args: readonly string[], signal: AbortSignal): Promise<number> {
  const { spawn } = await import('node:child_process')
  return await new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: 'inherit' })
    // The terminal sends Ctrl-C to both processes; a signal to this process alone is passed on.
    signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true })
    child.once('error', (error) =>
      reject(new CliError(EXIT.failed, { where: file, what: 'cannot run the plugin', why: error.message })),
    )
    child.once('close', (code) => resolve(code ?? EXIT.interrupted))
  })
}
