/** A password on its way from a Secret of the hub into clusters, and a search for it everywhere else. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup, Ended } from './flotilla-process.ts'

const READY = /^flotilla hub ready: api (\S+) gateway (\S+) console (\S+) kubeconfig (\S+)\n/

/** The password; nothing else in the test has these letters. */
export const PASSWORD = 'correct horse battery staple 8271'
const GREETING = 'good morning to the fleet'

const CONTENT = `apiVersion: v1
kind: Secret
metadata: {name: db, namespace: default, labels: {flotilla.dev/input: allowed}}
stringData: {password: ${PASSWORD}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: everywhere, namespace: default}
spec: {clusterSelector: {}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: shop, namespace: default}
spec:
  placement: everywhere
  rollout: {concurrency: 10}
  templating: Enabled
  inputs: [{name: db, secret: {name: db}}]
  feedback: [{kind: Secret, as: told, expression: object.data.password}]
  manifests: |
    apiVersion: v1
    kind: Secret
    metadata: {name: shop-db, namespace: default}
    stringData: {password: "\${ .Inputs.db.password }"}
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: shop, namespace: default}
    data: {greeting: ${GREETING}}
`

/** A running hub. */
export interface RunningHub {
  readonly data: string
  readonly kubeconfig: string
  stop(): Promise<Ended>
}

/** Starts a hub, which is a cluster's API as well. */
export async function startHub(t: Cleanup, data: string): Promise<RunningHub> {
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, '--log-level', 'debug', ...FREE])
  const [, , , , kubeconfig = ''] = await hub.says(READY)
  return { data, kubeconfig, stop: () => hub.stop() }
}

/** Brings the password into clusters (name → kubeconfig) and looks for it everywhere else. */
export async function provePasswordIsSealed(t: Cleanup, spokes: Readonly<Record<string, string>>): Promise<void> {
  const folder = temporaryFolder(t)
  const hub = await startHub(t, join(folder, 'hub'))
  const flotilla = (args: readonly string[], input?: string) =>
    runFlotilla(t, [...args, '--kubeconfig', hub.kubeconfig], input === undefined ? {} : { input })
  const agents: { readonly data: string; stop(): Promise<Ended> }[] = []
  for (const [name, kubeconfig] of Object.entries(spokes)) {
    const added = await flotilla(['cluster', 'add', name, '-o', 'json'])
    const { code } = JSON.parse(added.stdout) as { code: string }
    const data = join(folder, `agent-${name}`)
    const env = { FLOTILLA_LOG_LEVEL: 'debug' }
    const agent = startFlotilla(t, ['agent', 'run', '--join', code, '--kubeconfig', kubeconfig, '--data', data], {
      env,
    })
    agents.push({ data, stop: () => agent.stop() })
  }
  const applied = await flotilla(['apply', '-f', '-'], CONTENT)
  assert.equal(applied.code, 0, applied.stderr)

  for (const [name, kubeconfig] of Object.entries(spokes)) {
    const read = ['get', 'secret', 'shop-db', '-n', 'default', '-o', 'jsonpath={.data.password}']
    const got = await eventually(`the Secret on ${name}`, async () => {
      const { stdout, code } = await runFlotilla(t, [...read, '--kubeconfig', kubeconfig])
      return code === 0 && stdout !== '' ? stdout : undefined
    })
    assert.equal(Buffer.from(got.trim(), 'base64').toString(), PASSWORD)
  }
  await eventually('all are Ready', async () => {
    const { stdout } = await flotilla(['get', 'clusterreports', '-o', 'json'])
    const { items } = JSON.parse(stdout) as { items: { spec: { bundles: { state: string }[] } }[] }
    const rows = items.flatMap(({ spec }) => spec.bundles)
    return rows.length === Object.keys(spokes).length && rows.every(({ state }) => state === 'Ready') ? true : undefined
  })

  const kinds = ['clusters', 'bundles', 'releases', 'rollouts', 'assignments', 'clusterreports', 'events']
  const shown: string[] = []
  for (const kind of kinds) {
    const { stdout, stderr, code } = await flotilla(['get', kind, '-A', '-o', 'yaml'])
    assert.equal(code, 0, stderr)
    shown.push(stdout)
  }
  const audit = join(folder, 'backup.tar')
  const backup = await runFlotilla(t, ['backup', audit, '--data', hub.data])
  assert.equal(backup.code, 0, backup.stderr)
  const ended = await Promise.all([...agents.map((agent) => agent.stop()), hub.stop()])
  const places: [string, Buffer][] = [
    ...[hub.data, ...agents.map(({ data }) => data)].flatMap(filesIn),
    ['the backup', readFileSync(audit)],
    ...shown.map((text, at): [string, Buffer] => [`what get ${kinds[at]} shows`, Buffer.from(text)]),
    ...ended.map(({ stdout, stderr }, at): [string, Buffer] => [
      `the log of process ${at}`,
      Buffer.from(stdout + stderr),
    ]),
  ]
  const holding = (text: string) => places.filter(([, bytes]) => bytes.includes(text)).map(([place]) => place)
  const once = Buffer.from(PASSWORD).toString('base64')
  for (const form of [PASSWORD, once, Buffer.from(once).toString('base64')]) {
    assert.deepEqual(holding(form), [], `${JSON.stringify(form)} is readable`)
  }
  // The search finds what is there to be found: in the database, in blobs, on the agents' disks. Bundles are sealed in
  // the database, so there it finds the kind of other objects.
  const databases = holding('"ClusterReport"').filter((place) => place.includes('hub.db'))
  assert.notDeepEqual(databases, [], 'the database was not searched')
  const found = holding(GREETING)
  for (const part of ['/hub/blobs/', '/agent-', 'the backup', 'get bundles']) {
    assert.ok(
      found.some((place) => place.includes(part)),
      `${part} is not among ${found.join(', ')}`,
    )
  }
}

function filesIn(folder: string): [string, Buffer][] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, readFileSync(path)])
}
