/**
 * The join manifest on a real API server. No kubelet runs in tests: command, environment and mounts are read back from the Deployment, and exactly that is
 * run as processes, with folders for its mounts and the real API server's address for `kubernetes.default.svc`.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { bundle } from '../../scripts/bundle.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import type { ControlPlane } from '../../src/testing/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { temporaryFolder } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'

const execute = promisify(execFile)
const ACCOUNT = 'system:serviceaccount:flotilla-agent:flotilla-agent'
const WITHIN_MS = 120_000

interface Container {
  readonly command: readonly string[]
  readonly env?: readonly {
    name: string
    value?: string
    valueFrom?: { secretKeyRef: { name: string; key: string } }
  }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
}

interface PodSpec {
  readonly serviceAccountName: string
  readonly initContainers: readonly Container[]
  readonly containers: readonly Container[]
  readonly volumes: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[]
}

interface ClusterObject {
  spec: { accepted: boolean }
  status?: { claims?: { name: string; value: string }[]; agent?: { address?: string } }
}

/** What a kubelet does with a pod, as far as this one needs it: folders for mounts, values for environment, commands in order. */
async function createPod(t: Cleanup, plane: ControlPlane, folder: string) {
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
  for (const { volumeMounts } of [...pod.initContainers, ...pod.containers]) {
    for (const { name, mountPath } of volumeMounts) mounts.set(mountPath, join(folder, name))
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

  async function start({ command, env = [] }: Container): Promise<ChildProcess> {
    const values: Record<string, string> = { PATH: dirname(process.execPath) }
    for (const { name, value, valueFrom } of env) {
      if (value !== undefined) values[name] = value
      if (!valueFrom) continue
      const { data } = await read<{ data: Record<string, string> }>(`${home}/secrets/${valueFrom.secretKeyRef.name}`)
      values[name] = Buffer.from(data[valueFrom.secretKeyRef.key]!, 'base64').toString()
    }
    const [program = '', ...args] = command.map(inside)
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

async function eventually<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const end = performance.now() + WITHIN_MS
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`${what} did not happen within ${WITHIN_MS / 1000} s`)
    await sleep(300)
  }
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

test(
  'a cluster joins by the manifest alone, and its agent has the rights of its profile',
  { timeout: 300_000 },
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

    const free = ['--listen', '127.0.0.1:0', '--gateway-listen', '127.0.0.1:0', '--console-listen', '127.0.0.1:0']
    const hub = spawn(process.execPath, [program, 'hub', 'run', '--data', join(folder, 'hub'), ...free], {
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

    const rights = async (verb: string, what: string, ...more: string[]) => {
      const asked = kubectl(['auth', 'can-i', verb, what, '--as', ACCOUNT, ...more])
      return (await asked.catch((error: { stdout: string }) => error.stdout)).trim()
    }
    const everything = async () => ({
      secretsAnywhere: await rights('get', 'secrets', '-A'),
      deployInShop: await rights('create', 'deployments', '-n', 'shop'),
      deployElsewhere: await rights('create', 'deployments', '-n', 'default'),
      look: await rights('list', 'deployments', '-n', 'default'),
      nodes: await rights('list', 'nodes'),
      changeNodes: await rights('delete', 'nodes'),
      ownState: await rights('update', 'configmaps', '-n', 'flotilla-agent'),
      clusterRoles: await rights('create', 'clusterroles'),
    })
    await kubectl(['create', 'namespace', 'shop'])

    const join1 = async (...profile: string[]) => {
      const manifest = await flotilla('cluster', 'add', 'store-1', '-o', 'manifest', ...profile)
      await kubectl(['apply', '-f', '-'], manifest)
      return manifest
    }
    await join1('--profile', 'read-only')
    // The aggregated roles `view` and `admin` are filled by a controller.
    await eventually('the right to look', async () => ((await everything()).look === 'yes' ? true : undefined))
    assert.deepEqual(await everything(), {
      secretsAnywhere: 'no',
      deployInShop: 'no',
      deployElsewhere: 'no',
      look: 'yes',
      nodes: 'yes',
      changeNodes: 'no',
      ownState: 'yes',
      clusterRoles: 'no',
    })
    // What another profile does not say stays: rights are taken away by name.
    await kubectl(['delete', 'clusterrolebinding', 'flotilla-agent-view'])

    await join1('--profile', 'namespaced', '--agent-namespace', 'shop')
    await eventually('the right to deploy', async () =>
      (await everything()).deployInShop === 'yes' ? true : undefined,
    )
    assert.deepEqual(await everything(), {
      secretsAnywhere: 'no',
      deployInShop: 'yes',
      deployElsewhere: 'no',
      look: 'no',
      nodes: 'yes',
      changeNodes: 'no',
      ownState: 'yes',
      clusterRoles: 'no',
    })

    await kubectl(['apply', '-f', '-'], JSON.stringify(PROPERTY_CRD))
    await kubectl(['wait', '--for=condition=Established', 'crd/clusterproperties.about.k8s.io', '--timeout=60s'])
    const property = {
      apiVersion: 'about.k8s.io/v1alpha1',
      kind: 'ClusterProperty',
      metadata: { name: 'site.example' },
    }
    await kubectl(['apply', '-f', '-'], JSON.stringify({ ...property, spec: { value: 'oslo' } }))

    const { pod, start } = await createPod(t, spoke, join(folder, 'pod'))
    for (const container of pod.initContainers) {
      const { code, said } = await endOf(await start(container))
      assert.equal(code, 0, said)
    }
    assert.equal(pod.containers.length, 1)
    const agent = await start(pod.containers[0]!)
    const ended = endOf(agent)

    const cluster = await eventually('the cluster joining and saying what it is', async () => {
      if (agent.exitCode !== null) throw new Error(`the agent ended: ${(await ended).said}`)
      const text = await flotilla('get', 'cluster', 'store-1', '-o', 'json').catch(() => undefined)
      const found = text === undefined ? undefined : (JSON.parse(text) as ClusterObject)
      return found?.status?.claims ? found : undefined
    })
    const claims = new Map(cluster.status?.claims?.map(({ name, value }) => [name, value]))
    assert.equal(cluster.spec.accepted, true)
    assert.equal(claims.get('flotilla.dev/nodes'), '1')
    assert.match(claims.get('flotilla.dev/kubernetes-version') ?? '', /^v1\.36\./)
    assert.match(claims.get('flotilla.dev/allocatable.memory') ?? '', /^\d+Ki$/)
    assert.equal(claims.get('site.example'), 'oslo')
    assert.match(cluster.status?.agent?.address ?? '', /127\.0\.0\.1$/)

    await flotilla('cluster', 'revoke', 'store-1', '--yes', '--reason', 'end of the test')
    agent.kill('SIGTERM')
    assert.equal((await ended).code, 0)
  },
)
