/** Plugins: a program `flotilla-NAME` in PATH is the command `flotilla NAME`. */
import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { CliError, EXIT } from '../errors/cli-error.ts'

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/

/** The program of a plugin; undefined when there is none. Folders that are not absolute are not searched. */
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

/** Runs it with this process's own streams; its exit code, or 130 when a signal ended it. */
export async function runPlugin(file: string, args: readonly string[], signal: AbortSignal): Promise<number> {
  const { spawn } = await import('node:child_process')
  return await new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: 'inherit' })
    // Ctrl-C reaches it by the terminal; a signal sent to this process alone is passed on.
    signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true })
    child.once('error', (error) =>
      reject(new CliError(EXIT.failed, { what: 'the plugin cannot be run', where: file, why: error.message })),
    )
    child.once('close', (code) => resolve(code ?? EXIT.interrupted))
  })
}
