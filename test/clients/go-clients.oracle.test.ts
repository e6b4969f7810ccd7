/**
 * Clients written in Go as others write them, unmodified, against the embedded API: client-go and controller-runtime.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { startApiHome } from '../../src/testing/control-plane/embedded-api.ts'
import { cacheDir } from '../../src/testing/testenv.ts'
import { startFleetHub } from '../e2e/fleet-flow.ts'
import { eventually, temporaryFolder } from '../e2e/flotilla-process.ts'

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

const needsGo = {
  skip: goIsHere() ? false : 'there is no Go on this machine to build test/clients/go with',
  timeout: BUILD_MS,
}

test('client-go informers and controller-runtime clients work unmodified', needsGo, async (t) => {
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
})

test(
  'client-go reads PlacementDecisions of two pages, and never sees a cluster vanish that stays',
  needsGo,
  async (t) => {
    const program = await build()
    const { kubeconfig, kubectl } = await startFleetHub(t, '--dialects', 'ocm')
    const group = 'cluster.open-cluster-management.io'
    const names = Array.from({ length: 130 }, (_, index) => `store-${String(index).padStart(3, '0')}`)
    const objects = [
      ...names.map((name) => ({
        apiVersion: `${group}/v1`,
        kind: 'ManagedCluster',
        metadata: { name, labels: { tier: 'store' } },
        spec: { hubAcceptsClient: true },
      })),
      {
        apiVersion: `${group}/v1beta2`,
        kind: 'ManagedClusterSetBinding',
        metadata: { name: 'global', namespace: 'default' },
        spec: { clusterSet: 'global' },
      },
      {
        apiVersion: `${group}/v1beta1`,
        kind: 'Placement',
        metadata: { name: 'stores', namespace: 'default' },
        spec: {
          tolerations: [{ operator: 'Exists' }],
          predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { tier: 'store' } } } }],
        },
      },
    ]
    const file = join(temporaryFolder(t), 'fleet.json')
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
    await kubectl('apply', '-f', file)
    const reader = spawn(program, [kubeconfig, 'default', 'stores'], { stdio: ['pipe', 'pipe', 'inherit'] })
    t.after(() => reader.kill())
    const seen: ReadonlySet<string>[] = []
    createInterface({ input: reader.stdout }).on('line', (line) => seen.push(new Set(JSON.parse(line) as string[])))
    const sees = async (wanted: readonly string[]): Promise<number> => {
      const isWanted = () => seen.at(-1)?.size === wanted.length && wanted.every((name) => seen.at(-1)!.has(name))
      await eventually(`${wanted.length} decided clusters`, async () => (isWanted() ? true : undefined))
      return seen.length
    }
    const from = await sees(names)
    assert.equal(
      (await kubectl('get', `placementdecisions.${group}`, '-n', 'default', '-o', 'name')).split('\n').length,
      3,
    )
    // The clusters after the first one move from the second page to the first one.
    await kubectl('label', 'managedcluster', 'store-000', 'tier=closed', '--overwrite')
    await sees(names.slice(1))
    await kubectl('label', 'managedcluster', 'store-000', 'tier=store', '--overwrite')
    await sees(names)
    const vanished = seen.slice(from - 1).flatMap((set) => names.slice(1).filter((name) => !set.has(name)))
    assert.deepEqual(vanished, [])
  },
)
