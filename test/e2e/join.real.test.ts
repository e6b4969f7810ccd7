/**
 * The join manifest, and the chart of the agent installed by the real Helm, on a real API server. No kubelet runs in tests: command, environment and mounts are read back from
 * the Deployment, and exactly that is run as processes, with folders for its mounts and the real API server's address
 * for `kubernetes.default.svc`.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { bundle } from '../../scripts/bundle.ts'
import { chartFolder } from '../../scripts/charts/chart-files.ts'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { eventually, FREE, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'

const execute = promisify(execFile)
const ACCOUNT = 'system:serviceaccount:flotilla-agent:flotilla-agent'

interface Container {
  /** Absent in a pod of the image of the agent, whose program is the agent. */
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly {
    name: string
    value?: string
    valueFrom?: {
      secretKeyRef?: { name: string; key: string }
      configMapKeyRef?: { name: string; key: string }
    }
  }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
}

interface PodSpec {
  readonly serviceAccountName: string
  readonly initContainers?: readonly Container[]
  readonly containers: readonly Container[]
  readonly volumes: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[]
}

interface ReportObject {
  spec: { bundles: { bundle: string; state: string; message?: string }[] }
}

interface ClusterObject {
  spec: { accepted: boolean }
  status?: { claims?: { name: string; value: string }[]; agent?: { address?: string } }
}

/**
 * What a kubelet does with a pod, as far as this one needs it: folders for mounts, values for environment, commands in
 * order.
 */
async function createPod(t: Cleanup, plane: ControlPlane, folder: string, agent: string) {
  const read = async <T>(path: string): Promise<T> => {
    const { status, text } = await plane.call('GET', path)
    assert.equal(status, 200, text)
    return JSON.parse(text) as T
  }
  const home = '/api/v1/namespaces/flotilla-agent'
  const { spec } = await read<{ spec: { template: { spec: PodSpec } } }>(
    '/apis/apps/v1/namespaces/flotilla-agent/deployments/flotilla-agent',
  )
  const pod = spec.template.spec
  const secretMount = '/var/run/secrets/kubernetes.io/serviceaccount'
  const mounts = new Map([[secretMount, join(folder, 'account')]])
  for (const { volumeMounts } of [...(pod.initContainers ?? []), ...pod.containers]) {
    // The folders of this test are in the /tmp of the machine.
    for (const { name, mountPath } of volumeMounts) if (mountPath !== '/tmp') mounts.set(mountPath, join(folder, name))
  }
  for (const path of mounts.values()) mkdirSync(path, { recursive: true })
  const inside = (text: string) => {
    let result = text.replaceAll('https://kubernetes.default.svc', plane.url)
    for (const [path, real] of mounts) result = result.replaceAll(`${path}/`, `${real}/`)
    return result
  }
  const minted = await plane.call('POST', `${home}/serviceaccounts/${pod.serviceAccountName}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600 },
  })
  assert.equal(minted.status, 201, minted.text)
  const { token } = (JSON.parse(minted.text) as { status: { token: string } }).status
  writeFileSync(join(folder, 'account', 'token'), token)
  writeFileSync(join(folder, 'account', 'ca.crt'), plane.ca)
  for (const { name, configMap } of pod.volumes) {
    if (!configMap) continue
    const { data } = await read<{ data: Record<string, string> }>(`${home}/configmaps/${configMap.name}`)
    for (const [file, text] of Object.entries(data)) writeFileSync(join(folder, name, file), inside(text))
  }

  async function start({ command = ['node', agent], args: more = [], env = [] }: Container): Promise<ChildProcess> {
    const values: Record<string, string> = { PATH: dirname(process.execPath) }
    for (const { name, value, valueFrom } of env) {
      if (value !== undefined) values[name] = value
      const { secretKeyRef, configMapKeyRef } = valueFrom ?? {}
      if (secretKeyRef) {
        const { data } = await read<{ data: Record<string, string> }>(`${home}/secrets/${secretKeyRef.name}`)
        values[name] = Buffer.from(data[secretKeyRef.key]!, 'base64').toString()
      }
      if (configMapKeyRef) {
        const { data } = await read<{ data: Record<string, string> }>(`${home}/configmaps/${configMapKeyRef.name}`)
        values[name] = data[configMapKeyRef.key]!
      }
    }
    const [program = '', ...args] = [...command, ...more].map(inside)
    const child = spawn(program, args, { env: values, stdio: ['ignore', 'inherit', 'pipe'] })
    t.after(() => void child.kill('SIGKILL'))
    return child
  }

  return { pod, start }
}

async function endOf(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text))
  return new Promise((done) => child.on('close', (code) => done({ code, said })))
}

const PROPERTY_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'clusterproperties.about.k8s.io',
    annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/enhancements/pull/2149' },
  },
  spec: {
    group: 'about.k8s.io',
    names: { kind: 'ClusterProperty', plural: 'clusterproperties' },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { value: { type: 'string' } } } },
          },
        },
      },
    ],
  },
}

/** One ConfigMap in `shop`, for one cluster: what fails on one of them must not hold the next one up. */
const contentFor = (cluster: string) => `apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata:
  name: ${cluster}
spec:
  clusterSelector:
    matchLabels:
      site: ${cluster}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata:
  name: note-${cluster}
spec:
  placement: ${cluster}
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: note
      namespace: shop
    data:
      text: hello
`

const RIGHTS = {
  secretsAnywhere: ['get', 'secrets', '-A'],
  deployInShop: ['create', 'deployments', '-n', 'shop'],
  deployElsewhere: ['create', 'deployments', '-n', 'default'],
  look: ['list', 'deployments', '-n', 'default'],
  nodes: ['list', 'nodes'],
  changeNodes: ['delete', 'nodes'],
  ownState: ['update', 'configmaps', '-n', 'flotilla-agent'],
  clusterRoles: ['create', 'clusterroles'],
} as const

/**
 * Each profile: its flags, the right that shows that aggregated roles are filled, what it may do, and how the bundle
 * ends.
 */
const PROFILES = [
  {
    cluster: 'reader',
    flags: ['--profile', 'read-only'],
    chart: ['profile=read-only'],
    sign: 'look',
    may: ['look', 'nodes', 'ownState'],
    bundle: { state: 'Failed', message: /denied: \S+ may not patch configmaps in namespace shop/ },
  },
  {
    cluster: 'tenant',
    flags: ['--profile', 'namespaced', '--agent-namespace', 'shop'],
    sign: 'deployInShop',
    may: ['deployInShop', 'nodes', 'ownState'],
    bundle: { state: 'Ready', message: /^$/ },
  },
  {
    cluster: 'owner',
    flags: ['--profile', 'full'],
    sign: 'clusterRoles',
    may: Object.keys(RIGHTS),
    bundle: { state: 'Ready', message: /^$/ },
  },
] as const

test(
  'clusters join by the manifest or the chart alone, and their agents have the rights of their profiles',
  { timeout: 400_000 },
  async (t) => {
    const folder = temporaryFolder(t)
    await bundle(folder)
    const program = join(folder, 'flotilla.mjs')
    await using spoke = await startControlPlane({ controllers: true, nodes: 1 })
    const kubectl = async (args: readonly string[], input?: string): Promise<string> => {
      const running = execute(needBinary('kubectl'), ['--kubeconfig', spoke.kubeconfigPath, ...args])
      running.child.stdin?.end(input)
      return (await running).stdout
    }

    const helm = async (...args: string[]): Promise<void> => {
      const place = ['--kubeconfig', spoke.kubeconfigPath, '--namespace', 'flotilla-agent']
      await execute(needBinary('helm'), [...args, ...place])
    }

    const hub = spawn(process.execPath, [program, 'hub', 'run', '--data', join(folder, 'hub'), ...FREE], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => void hub.kill('SIGKILL'))
    await new Promise<void>((ready, failed) => {
      hub.stdout.on('data', (chunk: Buffer) => chunk.toString().includes('flotilla hub ready') && ready())
      hub.on('close', () => failed(new Error('the hub ended')))
    })
    const kubeconfig = join(folder, 'hub', 'admin.kubeconfig')
    const flotilla = async (...args: string[]) =>
      (await execute(process.execPath, [program, ...args, '--kubeconfig', kubeconfig])).stdout

    const may = async (right: keyof typeof RIGHTS): Promise<boolean> => {
      const asked = kubectl(['auth', 'can-i', ...RIGHTS[right], '--as', ACCOUNT])
      return (await asked.catch((error: { stdout: string }) => error.stdout)).trim() === 'yes'
    }
    await kubectl(['create', 'namespace', 'shop'])
    await kubectl(['apply', '-f', '-'], JSON.stringify(PROPERTY_CRD))
    await kubectl(['wait', '--for=condition=Established', 'crd/clusterproperties.about.k8s.io', '--timeout=60s'])
    const property = {
      apiVersion: 'about.k8s.io/v1alpha1',
      kind: 'ClusterProperty',
      metadata: { name: 'site.example' },
    }
    await kubectl(['apply', '-f', '-'], JSON.stringify({ ...property, spec: { value: 'oslo' } }))

    for (const profile of PROFILES) {
      const { cluster: name } = profile
      writeFileSync(join(folder, `${name}.yaml`), contentFor(name))
      await flotilla('apply', '-f', join(folder, `${name}.yaml`))
      // The last of them with a code for several clusters: the manifest asks the cluster for its name.
      const isOne = name !== 'owner'
      const who = isOne ? [name] : ['--pattern', 'own*', '--accept', 'networks', '--accept-from', '127.0.0.0/8']
      const add = (output: string) =>
        flotilla('cluster', 'add', ...who, '-l', `site=${name}`, '-o', output, ...profile.flags)
      if ('chart' in profile) {
        const { code } = JSON.parse(await add('json')) as { code: string }
        const values = ['image.registry=registry.example.com', `join.code=${code}`, ...profile.chart]
        await helm('install', 'agent', chartFolder('flotilla-agent'), '--create-namespace', '--set', values.join(','))
      } else await kubectl(['apply', '-f', '-'], await add('manifest'))
      if (!isOne) {
        const more = ['-n', 'flotilla-agent', `--from-literal=name=${name}`]
        await kubectl(['create', 'configmap', 'flotilla-cluster', ...more])
      }
      // The aggregated roles `view` and `admin` are filled by a controller.
      await eventually(`the rights of ${name}`, async () => ((await may(profile.sign)) ? true : undefined))
      const has: string[] = []
      for (const right of Object.keys(RIGHTS) as (keyof typeof RIGHTS)[]) if (await may(right)) has.push(right)
      assert.deepEqual(has.sort(), [...profile.may].sort(), name)

      const { pod, start } = await createPod(t, spoke, join(folder, `pod-${name}`), join(folder, 'agent.mjs'))
      assert.equal(pod.initContainers === undefined, 'chart' in profile)
      for (const container of pod.initContainers ?? []) {
        const { code, said } = await endOf(await start(container))
        assert.equal(code, 0, said)
      }
      assert.equal(pod.containers.length, 1)
      const agent = await start(pod.containers[0]!)
      const ended = endOf(agent)
      const seen = async <T>(...args: string[]): Promise<T | undefined> => {
        if (agent.exitCode !== null) throw new Error(`the agent ended: ${(await ended).said}`)
        const text = await flotilla('get', ...args, '-o', 'json').catch(() => undefined)
        return text === undefined ? undefined : (JSON.parse(text) as T)
      }

      const cluster = await eventually(`${name} joining and saying what it is`, async () => {
        const found = await seen<ClusterObject>('cluster', name)
        return found?.status?.claims ? found : undefined
      })
      const claims = new Map(cluster.status?.claims?.map((claim) => [claim.name, claim.value]))
      assert.equal(cluster.spec.accepted, true)
      assert.equal(claims.get('flotilla.dev/nodes'), '1')
      assert.match(claims.get('flotilla.dev/kubernetes-version') ?? '', /^v1\.36\./)
      assert.match(claims.get('flotilla.dev/allocatable.memory') ?? '', /^\d+Ki$/)
      assert.equal(claims.get('site.example'), 'oslo')
      assert.match(cluster.status?.agent?.address ?? '', /127\.0\.0\.1$/)

      const row = await eventually(`${name}'s bundle ${profile.bundle.state}`, async () => {
        const found = (await seen<ReportObject>('clusterreport', name))?.spec.bundles[0]
        return found?.state === profile.bundle.state ? found : undefined
      })
      assert.match(row.message ?? '', profile.bundle.message)

      if ('chart' in profile) {
        const { text } = await spoke.call('GET', '/api/v1/namespaces/flotilla-agent/secrets/flotilla-agent-identity')
        const { data } = JSON.parse(text) as { data: object }
        assert.deepEqual(Object.keys(data).sort(), ['identity.json', 'transport.json', 'trust.json'])
        const files = readdirSync(join(folder, `pod-${name}`, 'data', 'agent'))
        assert.deepEqual(
          files.filter((file) => file in data),
          [],
          'the keys are not on disk',
        )
      }
      await flotilla('cluster', 'revoke', name, '--yes', '--reason', 'end of the test')
      agent.kill('SIGTERM')
      assert.equal((await ended).code, 0)
      if ('chart' in profile) await helm('uninstall', 'agent')
      // Rights of one profile are not taken away by the next: by label, and the state of the cluster it was.
      const mine = ['-l', 'app.kubernetes.io/name=flotilla-agent']
      await kubectl(['delete', 'clusterrolebindings,clusterroles', ...mine])
      await kubectl(['delete', 'rolebindings,roles,configmaps', '-A', ...mine])
      await kubectl([
        'delete',
        'configmaps',
        '-n',
        'flotilla-agent',
        '-l',
        'app.kubernetes.io/managed-by=flotilla-agent',
      ])
    }
  },
)
