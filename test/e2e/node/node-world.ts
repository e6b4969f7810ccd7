/**
 * Two real Kubernetes clusters with nodes, a registry, an S3 server and a git server: what a data centre has before it
 * installs Flotilla. Everything runs in two sandboxes of this machine.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Layout, MEDIA } from '../../../scripts/images/oci.ts'
import { makeProgram } from '../../../scripts/images/program.ts'
import { buildImages, IMAGES } from '../../../scripts/images/recipes.ts'
import { pushLayout } from '../../../scripts/images/registry.ts'
import { writeTree } from '../../../scripts/images/tree.ts'
import { writeCharts } from '../../../scripts/charts/chart-files.ts'
import { VERSION } from '../../../src/core/version.ts'
import { becomeReady } from '../../../src/testing/control-plane/etcd.ts'
import { startControlPlane } from '../../../src/testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../../src/testing/control-plane/control-plane.ts'
import { startNode } from '../../../src/testing/node/node.ts'
import { connect, startSandbox } from '../../../src/testing/node/sandbox.ts'
import type { Sandbox } from '../../../src/testing/node/sandbox.ts'
import { S3_ACCOUNT, startS3Server } from '../../../src/testing/s3/s3-server.ts'
import { debianPartsDir, needBinary } from '../../../src/testing/testenv.ts'
import { temporaryFolder } from '../flotilla-process.ts'
import type { Cleanup } from '../flotilla-process.ts'

const [REGISTRY_PORT, GIT_PORT] = [5000, 8080]
export const GATEWAY_PORT = 30_444

/** A cluster of the world. */
export interface RealCluster {
  readonly sandbox: Sandbox
  readonly plane: ControlPlane
  readonly auditLog: string
}

export type NodeWorld = Awaited<ReturnType<typeof startNodeWorld>>

/** Starts both clusters: the home of the hub with three members of etcd, and a store. */
export async function startNodeWorld(t: Cleanup & { diagnostic(text: string): void }) {
  const began = performance.now()
  const note = (text: string): void =>
    t.diagnostic(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`)
  const folder = temporaryFolder(t)
  const [home, store] = [await startSandbox(0), await startSandbox(1)]
  t.after(async () => {
    await Promise.all([home.stop(), store.stop()])
  })
  connect(home, store)
  const registry = `${home.outside}:${REGISTRY_PORT}`
  const { program, images } = await startRegistry(t, home, folder)
  note(`the registry has ${images.join(', ')}`)
  const s3 = await startS3Server(home)
  const git = startGit(home, folder)
  const clusters = []
  for (const [sandbox, members] of [
    [home, 3],
    [store, 1],
  ] as const) {
    const auditLog = join(folder, `audit-${sandbox.name}.log`)
    const plane = await startControlPlane({ machine: sandbox, members, controllers: true, auditLog })
    t.after(() => plane.stop())
    const options = { registry, pauseImage: `${registry}/pause:1` }
    await startNode(sandbox, plane, options)
    clusters.push({ sandbox, plane, auditLog })
    note(`${sandbox === home ? 'the home' : 'the store'} has a node, and etcd of ${members}`)
  }
  const [homeCluster, storeCluster] = clusters as [RealCluster, RealCluster]
  const shell = operatorShell(folder, program, [homeCluster, storeCluster])
  const gateway = `https://${home.outside}:${GATEWAY_PORT}`
  return { folder, note, home: homeCluster, store: storeCluster, registry, s3, git, gateway, ...shell }
}

/** A registry with the images of this clone, and an image whose only program sleeps. */
async function startRegistry(t: Cleanup, machine: Sandbox, folder: string) {
  const config = join(folder, 'registry.yaml')
  const storage = { filesystem: { rootdirectory: join(folder, 'registry') } }
  writeFileSync(config, JSON.stringify({ version: 0.1, storage, http: { addr: `:${REGISTRY_PORT}` } }))
  const server = machine.start('registry', join(debianPartsDir(), 'usr/bin/docker-registry'), ['serve', config])
  const target = `${machine.outside}:${REGISTRY_PORT}`
  await becomeReady([server], async () => (await fetch(`http://${target}/v2/`)).ok)
  const program = await makeProgram()
  t.after(() => program.remove())
  const layout = join(folder, 'images')
  const built = await buildImages(layout, { images: IMAGES, architectures: ['amd64'], tag: VERSION, program })
  await pushLayout(layout, { target: `${target}/platform`, isPlain: true })
  await pushLayout(pauseImage(join(folder, 'pause')), { target, isPlain: true })
  return { program: program.folder, images: built.map(({ name }) => `${name}:${VERSION}`) }
}

/** An image with `pause`: of pods, and of the workload. Its tags 1 and 2 differ in a label. */
function pauseImage(folder: string): string {
  const layout = new Layout(folder)
  const data = readFileSync(needBinary('pause'))
  const layer = layout.layer(writeTree(new Map([['pause', { type: 'file', mode: 0o755, data }]])), 'pause')
  for (const tag of ['1', '2']) {
    const image = layout.image('amd64', [layer], { entrypoint: ['/pause'], environment: {}, labels: { tag } })
    layout.name(
      layout.json({ schemaVersion: 2, mediaType: MEDIA.index, manifests: [image] }, MEDIA.index),
      `pause:${tag}`,
    )
  }
  layout.end()
  return folder
}

/** A repository with one folder, served to the pods of the home. */
function startGit(machine: Sandbox, folder: string) {
  const [bare, work] = [join(folder, 'repo.git'), join(folder, 'work')]
  const run = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.com', '-C', work, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  mkdirSync(work)
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', bare])
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', work])
  const main = join(import.meta.dirname, '../../../src/testing/node/git-main.ts')
  machine.start('git', process.execPath, [main, '0.0.0.0', String(GIT_PORT), bare])
  /** Commits files and pushes them; resolves with the commit. */
  const commit = (files: Readonly<Record<string, string>>, message: string): string => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(work, path, '..'), { recursive: true })
      writeFileSync(join(work, path), text)
    }
    run('add', '.')
    run('commit', '--quiet', '-m', message)
    run('push', '--quiet', bare, 'main')
    return run('rev-parse', 'HEAD').trim()
  }
  return { url: `http://${machine.address}:${GIT_PORT}/repo.git`, commit }
}

const execute = promisify(execFile)

/** The machine of an operator: helm, kubectl, flotilla, the packaged charts and a kubeconfig. No clone. */
function operatorShell(folder: string, program: string, [home, store]: readonly [RealCluster, RealCluster]) {
  const desk = join(folder, 'desk')
  const bin = join(folder, 'bin')
  for (const made of [desk, bin]) mkdirSync(made)
  for (const name of ['helm', 'kubectl'] as const) symlinkSync(needBinary(name), join(bin, name))
  writeFileSync(join(bin, 'flotilla'), `#!/bin/sh\nexec ${process.execPath} ${join(program, 'flotilla.mjs')} "$@"\n`)
  chmodSync(join(bin, 'flotilla'), 0o755)
  writeCharts(join(desk, 'dist'))
  writeFileSync(join(desk, 'access-key-id'), S3_ACCOUNT.accessKeyId)
  writeFileSync(join(desk, 'secret-access-key'), S3_ACCOUNT.secretAccessKey)
  const kubeconfig = join(folder, 'kubeconfig')
  writeFileSync(
    kubeconfig,
    mergedKubeconfig({ home: home.plane.kubeconfigPath, 'store-042': store.plane.kubeconfigPath }),
  )
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: desk, KUBECONFIG: kubeconfig, LANG: 'C.UTF-8' }
  /** Runs a command line in the folder of the operator. */
  const run = async (text: string): Promise<string> => {
    try {
      const { stdout } = await execute('sh', ['-e', '-c', text], { cwd: desk, env, maxBuffer: 1 << 26 })
      return stdout
    } catch (caught) {
      const { stdout, stderr, code } = caught as { stdout?: string; stderr?: string; code?: number }
      return assert.fail(`${text}\nended with ${code}:\n${stdout}${stderr}`)
    }
  }
  return { desk, run }
}

function mergedKubeconfig(files: Readonly<Record<string, string>>): string {
  const all = Object.entries(files).map(([name, path]) => {
    const { clusters, users } = JSON.parse(readFileSync(path, 'utf8')) as {
      readonly clusters: readonly { readonly cluster: object }[]
      readonly users: readonly { readonly user: object }[]
    }
    return { name, cluster: clusters[0]!.cluster, user: users[0]!.user }
  })
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: all.map(({ name, cluster }) => ({ name, cluster })),
    users: all.map(({ name, user }) => ({ name, user })),
    contexts: all.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
    'current-context': all[0]!.name,
  })
}
