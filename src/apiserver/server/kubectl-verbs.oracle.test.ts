import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startApiHome } from '../../testing/control-plane/embedded-api.ts'
import type { ApiHome } from '../../testing/control-plane/embedded-api.ts'
import { needBinary } from '../../testing/testenv.ts'

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 1
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec: {containers: [{name: c, image: "c:1"}]}
`

describe('kubectl: cascades, scale, rollout, diff, raw', { timeout: 120_000 }, () => {
  let home: ApiHome
  let folder: string

  before(async () => {
    home = await startApiHome()
    folder = await mkdtemp(join(tmpdir(), 'flotilla-kubectl-'))
    await writeFile(join(folder, 'kubeconfig'), home.kubeconfig)
  })
  after(async () => {
    await home?.close()
    if (folder) await rm(folder, { recursive: true })
  })

  const file = (name: string, text: string) => writeFile(join(folder, name), text)

  function kubectl(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
    const all = ['--kubeconfig', join(folder, 'kubeconfig'), '--cache-dir', join(folder, 'cache'), ...args]
    return new Promise((resolve) => {
      execFile(needBinary('kubectl'), all, { cwd: folder, timeout: 60_000 }, (error, out, err) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, out, err })
      })
    })
  }

  async function ok(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await kubectl(...args)
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${err}${out}`)
    return out
  }

  async function family(name: string): Promise<void> {
    const uid = await ok('create', 'cm', name, '-o', 'jsonpath={.metadata.uid}')
    const owner = `{apiVersion: v1, kind: ConfigMap, name: ${name}, uid: ${uid}, blockOwnerDeletion: true}`
    await file(
      'child.yaml',
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}-child, ownerReferences: [${owner}]}\n`,
    )
    await ok('create', '-f', 'child.yaml')
  }

  it('delete --cascade=foreground waits for the dependents', async () => {
    await family('fore')
    assert.equal(
      await ok('delete', 'cm', 'fore', '--cascade=foreground'),
      'configmap "fore" deleted from default namespace\n',
    )
    assert.match((await kubectl('get', 'cm', 'fore-child')).err, /configmaps "fore-child" not found/)
  })

  it('delete --cascade=orphan leaves the dependents', async () => {
    await family('orphan')
    await ok('delete', 'cm', 'orphan', '--cascade=orphan')
    assert.equal(await ok('get', 'cm', 'orphan-child', '-o', 'jsonpath={.metadata.ownerReferences}'), '')
  })

  it('delete --cascade=background takes the dependents, and wait sees it', async () => {
    await family('back')
    await ok('delete', 'cm', 'back', '--cascade=background')
    await ok('wait', '--for=delete', 'cm/back-child', '--timeout=30s')
  })

  it('scale and rollout status', async () => {
    await file('d.yaml', DEPLOYMENT)
    await ok('apply', '-f', 'd.yaml')
    assert.equal(await ok('scale', 'deploy/d', '--replicas=3'), 'deployment.apps/d scaled\n')
    assert.equal(await ok('get', 'deploy', 'd', '-o', 'jsonpath={.spec.replicas} {.metadata.generation}'), '3 2')
    const refused = await kubectl('scale', 'deploy/d', '--current-replicas=9', '--replicas=4')
    assert.match(refused.err, /Expected replicas to be 9, was 3/)
    const scale = JSON.parse(await ok('get', '--raw', '/apis/apps/v1/namespaces/default/deployments/d/scale')) as {
      kind: string
      spec: object
      status: object
    }
    assert.equal(scale.kind, 'Scale')
    assert.deepEqual(scale.spec, { replicas: 3 })
    assert.deepEqual(scale.status, { replicas: 0, selector: 'app=d' })
    const waiting = ok('rollout', 'status', 'deploy/d', '--timeout=30s')
    const status = { observedGeneration: 2, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 }
    await ok('patch', 'deploy', 'd', '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }))
    assert.match(await waiting, /deployment "d" successfully rolled out/)
    assert.match(await ok('rollout', 'restart', 'deploy/d'), /restarted/)
  })

  it('diff shows what would change, apply drops what was dropped', async () => {
    const map = (data: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: ${data}\n`
    await file('m.yaml', map('{a: "1", b: "2"}'))
    await ok('apply', '-f', 'm.yaml')
    assert.equal((await kubectl('diff', '-f', 'm.yaml')).code, 0)
    await file('m.yaml', map('{a: "3"}'))
    const diff = await kubectl('diff', '-f', 'm.yaml')
    assert.equal(diff.code, 1, diff.err)
    assert.match(diff.out, /-  a: "1"/)
    assert.match(diff.out, /-  b: "2"/)
    await ok('apply', '-f', 'm.yaml')
    assert.equal(await ok('get', 'cm', 'm', '-o', 'jsonpath={.data}'), '{"a":"3"}')
  })

  it('the address of a Service does not change, unless it is made anew', async () => {
    const service = (address: string) =>
      `apiVersion: v1\nkind: Service\nmetadata: {name: fixed}\nspec: {clusterIP: ${address}, ports: [{port: 80}]}\n`
    await writeFile(join(folder, 'service.yaml'), service('10.96.0.77'))
    await ok('apply', '-f', 'service.yaml')
    await writeFile(join(folder, 'service.yaml'), service('10.96.0.78'))
    const refused = await kubectl('apply', '-f', 'service.yaml')
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      /The Service "fixed" is invalid: spec\.clusterIPs\[0\]: Invalid value: .*may not change once set/,
    )
    await ok('apply', '-f', 'service.yaml', '--force')
    assert.equal(await ok('get', 'service', 'fixed', '-o', 'jsonpath={.spec.clusterIP}'), '10.96.0.78')
  })

  it('events of both groups are one', async () => {
    await file(
      'e.yaml',
      `apiVersion: v1
kind: Event
metadata: {name: e1}
involvedObject: {apiVersion: v1, kind: ConfigMap, name: m, namespace: default}
type: Warning
reason: Odd
message: it is odd
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
count: 2
`,
    )
    await ok('create', '-f', 'e.yaml')
    assert.match(await ok('events', '--for', 'configmap/m'), /Warning +Odd +ConfigMap\/m +it is odd/)
    assert.match(await ok('get', 'events', '--field-selector=involvedObject.name=m'), /it is odd/)
  })
})
