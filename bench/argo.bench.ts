/**
 * One ApplicationSet of Argo CD, directories of a repository × clusters: all Applications from create to Synced, the first page of
 * their list, and one changed directory. All controllers, the renderer and the API over a store in memory, in one thread and in
 * virtual time; agents are played.
 *
 *   node bench/argo.bench.ts [--clusters 10,20,40] [--directories 20]
 *
 * Compare CPU for each Application, and growth over N. Fails when an Application is not Synced in the end.
 */
import { parseArgs } from 'node:util'
import { utf8 } from '../src/core/bytes.ts'
import { Application, ApplicationSet } from '../src/dialects/argo/kinds.ts'
import { Cluster } from '../src/kinds/native/cluster.ts'
import { storeFiles } from '../src/source/store-files.ts'
import { build, buildCluster } from '../src/testing/fixtures/builders.ts'
import { startControllersHome } from '../src/testing/hub/controllers-home.ts'

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '10,20,40' },
    directories: { type: 'string', default: '20' },
  },
})
const REPO = 'https://git.example.com/apps.git'
const PAGE = 500
const MOST_ROUNDS = 60
const directories = Array.from({ length: Number(values.directories) }, (_, at) => `app-${at}`)
const show = (what: string, text: string): void => void process.stdout.write(`${what.padEnd(40)}${text}\n`)
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

for (const count of values.clusters.split(',').map(Number)) await measure(count)
process.exit(process.exitCode ?? 0)

async function measure(count: number): Promise<void> {
  const hub = await startControllersHome(['argo'])
  const names = Array.from({ length: count }, (_, at) => `c${at}`)
  const files = new Map(directories.map((name) => [`${name}/cm.yaml`, utf8(manifest(name, 'first'))]))
  let commit = 'c1'
  hub.serveSources(async ({ previous, spec }) => {
    if (previous?.commit === commit) return { kind: 'Same' }
    const stored = await storeFiles(files, spec, hub.blobs)
    return { kind: 'New', artifact: { ...stored, revision: `main@sha1:${commit}`, commit, fetchedBytes: 1, from: 'x' } }
  })
  for (const name of names) {
    await hub.create(buildCluster(name, { labels: { env: 'prod' } }), Cluster)
    await hub.report(name, 'Ready')
  }
  const total = count * directories.length
  const applications = async () => (await hub.client.list(Application)).items
  /** Lets time pass, with agents that report, until all Applications are Synced at the commit. */
  const settle = async (): Promise<number> => {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      await hub.clock.advance(20_000)
      for (const name of names) await hub.report(name, 'Ready')
      const synced = (await applications()).filter(
        ({ status }) => status?.sync?.status === 'Synced' && status.sync.revision === commit,
      )
      if (synced.length === total) return synced.length
    }
    return (await applications()).filter(({ status }) => status?.sync?.status === 'Synced').length
  }
  const step = async (what: string, run: () => Promise<void>): Promise<void> => {
    const [before, writes] = [cpuMs(), hub.writes.length]
    await run()
    const synced = await settle()
    const spent = cpuMs() - before
    const each = `${(spent / total).toFixed(1)} ms for each of ${total}`
    show(
      `${count} clusters: ${what}`,
      `${(spent / 1000).toFixed(1)} s CPU, ${each}; ${hub.writes.length - writes} writes`,
    )
    if (synced !== total) {
      show('not Synced', String(total - synced))
      process.exitCode = 1
    }
  }

  await step('all Applications', async () => {
    await hub.create(applicationSet(), ApplicationSet)
  })
  const renders = hub.rendered()
  const before = cpuMs()
  const page = await hub.client.list(Application, { limit: PAGE })
  show(`${count} clusters: first page`, `${(cpuMs() - before).toFixed(0)} ms CPU for ${page.items.length} of ${total}`)
  await step('one changed directory', async () => {
    files.set(`${directories[0]}/cm.yaml`, utf8(manifest(directories[0]!, 'second')))
    commit = 'c2'
    await hub.clock.advance(180_000)
  })
  show(`${count} clusters: renderings`, `${renders} for all, ${hub.rendered() - renders} for the change`)
  show(`${count} clusters: memory`, `${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MiB`)
  await hub.close()
}

function manifest(name: string, value: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {v: "${value}"}\n`
}

function applicationSet(): ApplicationSet {
  const git = { repoURL: REPO, revision: 'main', directories: [{ path: '*' }] }
  return build(ApplicationSet, 'argocd/fleet', {
    spec: {
      goTemplate: true,
      generators: [{ matrix: { generators: [{ git }, { clusters: {} }] } }],
      template: {
        metadata: { name: '{{.path.basename}}-{{.name}}' },
        spec: {
          project: 'default',
          source: { repoURL: REPO, path: '{{.path.path}}', targetRevision: 'main' },
          destination: { name: '{{.name}}', namespace: 'shop' },
          syncPolicy: { automated: { prune: true, selfHeal: true } },
        },
      },
    },
  })
}
