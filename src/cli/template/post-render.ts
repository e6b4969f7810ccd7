/** `--post-renderer` of Helm 3: a program that gets the manifests, without hooks, and prints them changed. */
import { execFile } from 'node:child_process'
import { resolve as absolute } from 'node:path'
import { goBytes, fromGoBytes } from '../../render/gotemplate/go-string.ts'
import { HelmError } from '../../render/helm/helm-error.ts'

const MAX_OUTPUT = 1 << 28

/** Runs the program, never through a shell, and returns what it printed. */
export async function postRender(program: string, args: readonly string[], manifests: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const child = execFile(program, args, { encoding: 'buffer', maxBuffer: MAX_OUTPUT }, (error, stdout, stderr) => {
      if ((error as NodeJS.ErrnoException | null)?.code === 'ENOENT') {
        const problem = program.includes('/')
          ? `stat ${program}: no such file or directory`
          : 'executable file not found in $PATH'
        const found = `unable to find binary at ${program}: exec: "${program}": ${problem}`
        reject(new HelmError(`invalid argument "${program}" for "--post-renderer" flag: ${found}`))
      } else if (error) {
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
