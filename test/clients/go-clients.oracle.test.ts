/**
 * Clients written in Go as others write them, unmodified, against the embedded API: client-go and controller-runtime.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startApiHome } from '../../src/testing/control-plane/embedded-api.ts'
import { cacheDir } from '../../src/testing/testenv.ts'

const MODULE = join(import.meta.dirname, 'go')
const BUILD_MS = 900_000

function goIsHere(): boolean {
  try {
    execFileSync('go', ['version'], { cwd: MODULE, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

interface Ended {
  readonly code: number
  readonly text: string
}

function run(command: string, args: readonly string[], timeout: number): Promise<Ended> {
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off' }
  return new Promise((resolve) => {
    execFile(command, args, { cwd: MODULE, env, timeout }, (error, out, err) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, text: `${err}${out}` })
    })
  })
}

/** Builds the program once per content; a half-made file never gets the name. */
async function build(): Promise<string> {
  const hash = createHash('sha256')
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(MODULE, file)))
  const folder = join(cacheDir(), 'go-clients')
  const program = join(folder, hash.digest('hex').slice(0, 16))
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  const half = mkdtempSync(join(folder, 'half-'))
  try {
    const out = join(half, 'go-clients')
    const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w']
    const { code, text } = await run('go', ['build', ...flags, '-o', out, '.'], BUILD_MS)
    assert.equal(code, 0, `go could not build test/clients/go:\n${text}`)
    renameSync(out, program)
    return program
  } finally {
    rmSync(half, { recursive: true })
  }
}

test(
  'client-go informers and controller-runtime clients work unmodified',
  { skip: goIsHere() ? false : 'there is no Go on this machine to build test/clients/go with', timeout: BUILD_MS },
  async (t) => {
    const program = await build()
    const asked: string[] = []
    const home = await startApiHome(undefined, {
      wrap: (handle) => (request, caller, signal) => {
        asked.push(`${request.method} ${request.path}`)
        return handle(request, caller, signal)
      },
    })
    const folder = mkdtempSync(join(cacheDir(), 'go-clients', 'kubeconfig-'))
    t.after(async () => {
      rmSync(folder, { recursive: true })
      await home.close()
    })
    const kubeconfig = join(folder, 'kubeconfig')
    writeFileSync(kubeconfig, home.kubeconfig, { mode: 0o600 })
    const { code, text } = await run(program, [kubeconfig], 120_000)
    assert.equal(code, 0, text)
    assert.match(text, /^ok$/m)
    // Informers of this client-go begin with a watch that has the state in it; a list would mean that it fell back.
    const informers = asked.filter((line) => /^GET \S+\/go-clients\/(configmaps|boats)\?/.test(line))
    assert.ok(
      informers.some((line) => line.includes('sendInitialEvents=true')),
      informers.join('\n'),
    )
    assert.deepEqual(
      informers.filter((line) => !line.includes('watch=true') && line.includes('resourceVersion=')),
      [],
    )
  },
)
