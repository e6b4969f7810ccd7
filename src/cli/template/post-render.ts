/** `--post-renderer` of Helm 3: a program that reads the manifests without hooks and prints changed manifests. */
import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join, resolve as absolute } from 'node:path'
import { goQuote } from '../../core/text/go-quote.ts'
import { goBytes, fromGoBytes } from '../../render/gotemplate/go-string.ts'
import { HelmError } from '../../render/helm/helm-error.ts'

const MAX_OUTPUT = 1 << 28

/** Refuses a program that cannot be run, as helm does first. A program without slash is searched in PATH. */
export function checkPostRenderer(program: string, folders: readonly string[]): void {
  const problem = program.includes('/')
    ? programProblem(program)
    : folders.some((dir) => programProblem(join(dir, program)) === undefined)
      ? undefined
      : 'executable file not found in $PATH'
  if (problem === undefined) return
  const found = `unable to find binary at ${program}: exec: ${goQuote(program)}: ${problem}`
  throw new HelmError(`invalid argument ${goQuote(program)} for "--post-renderer" flag: ${found}`)
}

/** The error of Go's exec for a file that it cannot start. */
function programProblem(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (!stat) return `stat ${file}: no such file or directory`
  if (stat.isDirectory()) return 'is a directory'
  return (stat.mode & 0o111) === 0 ? 'permission denied' : undefined
}

/** Runs the program without a shell and returns its stdout. */
export async function postRender(program: string, args: readonly string[], manifests: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const child = execFile(program, args, { encoding: 'buffer', maxBuffer: MAX_OUTPUT }, (error, stdout, stderr) => {
      if (error) {
        const status = typeof error.code === 'number' ? `exit status ${error.code}` : error.message
        reject(
          new HelmError(
            `error while running post render on files: error while running command ${program.includes('/') ? absolute(program) : program}. error output:\n${stderr.toString('utf8')}: ${status}`,
            { rendered: true },
          ),
        )
      } else resolve(fromGoBytes(stdout))
    })
    child.stdin?.on('error', () => {}) // a program that does not read its input
    child.stdin?.end(goBytes(manifests))
  })
}
