/** A home with the Argo CD dialect, two clusters and repositories that a test writes. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { Application } from '../../dialects/argo/kinds.ts'
import type { ApplicationStatus } from '../../dialects/argo/kinds.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { storeFiles } from '../../source/store-files.ts'
import { buildCluster } from '../fixtures/builders.ts'
import { startControllersHome } from './controllers-home.ts'
import type { ControllersHome } from './controllers-home.ts'

/** Files by address. */
export type Repositories = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The home, and what tests of Applications look at. */
export interface ArgoHome {
  readonly hub: ControllersHome
  /** Lets everything happen; agents report Ready. */
  settle(): Promise<void>
  /** A commit of a repository: its files over those it has; an undefined file is deleted. */
  commit(commit: string, url: string, files: Readonly<Record<string, string | undefined>>): Promise<void>
  /** A commit, and time in which everything happens. */
  push(commit: string, url: string, files: Readonly<Record<string, string | undefined>>): Promise<void>
  /** What each cluster should have: `bundle: namespace/name value`. */
  delivered(): Promise<Record<string, string[]>>
  status(name: string): Promise<ApplicationStatus | undefined>
  edit(name: string, change: (app: Application) => Application): Promise<void>
}

const CLUSTERS: Readonly<Record<string, Record<string, string>>> = { c1: { env: 'prod' }, c2: { env: 'dev' } }

/** Starts it with clusters and their labels. */
export async function startArgoHome(
  t: TestContext,
  repositories: Repositories,
  clusters = CLUSTERS,
): Promise<ArgoHome> {
  const hub = await startControllersHome(['argo'])
  t.after(async () => {
    await hub.close()
    assert.deepEqual(hub.rights.denied, [], 'the controllers have every right that they use')
  })
  const tips = new Map(Object.entries(repositories).map(([url, files]) => [url, { commit: 'c1', files }]))
  const commits = new Map([...tips].map(([url, tip]) => [`${url} ${tip.commit}`, tip]))
  hub.serveSources(async ({ previous, spec }) => {
    const url = spec.git?.url ?? ''
    const pinned = spec.git?.ref?.commit
    const tip = pinned === undefined ? tips.get(url) : commits.get(`${url} ${pinned}`)
    if (!tip) return { kind: 'Failed', reason: 'NotFound', message: 'there is no repository.', retry: false }
    if (previous?.commit === tip.commit) return { kind: 'Same' }
    const bytes = new Map(Object.entries(tip.files).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    return {
      kind: 'New',
      artifact: { ...stored, revision: `main@sha1:${tip.commit}`, commit: tip.commit, fetchedBytes: 1, from: 'x' },
    }
  })
  for (const [name, labels] of Object.entries(clusters)) {
    await hub.create(buildCluster(name, { labels }), Cluster)
    await hub.report(name, 'Ready')
  }
  const settle = async () => {
    for (let round = 0; round < 4; round++) {
      await hub.clock.advance(20_000)
      for (const { metadata } of (await hub.client.list(Cluster)).items) await hub.report(metadata.name, 'Ready')
    }
    await hub.clock.advance(20_000)
  }
  const commit: ArgoHome['commit'] = async (name, url, files) => {
    const next = { ...tips.get(url)?.files, ...files }
    const kept = Object.entries(next).filter((one): one is [string, string] => one[1] !== undefined)
    const tip = { commit: name, files: Object.fromEntries(kept) }
    tips.set(url, tip)
    commits.set(`${url} ${name}`, tip)
    await Promise.resolve()
  }
  const parse = async (digest: `sha256:${string}`) =>
    JSON.parse(new TextDecoder().decode(await hub.blobs.get(digest))) as unknown
  return {
    hub,
    settle,
    commit,
    async push(name, url, files) {
      await commit(name, url, files)
      await hub.clock.advance(180_000)
      await settle()
    },
    async delivered() {
      const rows: Record<string, string[]> = {}
      for (const { metadata, spec } of (await hub.client.list(Assignment)).items) {
        for (const { bundle, set } of spec.entries) {
          const { objects } = (await parse(set)) as { objects: { digest: `sha256:${string}` }[] }
          for (const { digest } of objects) {
            const object = (await parse(digest)) as {
              metadata: { name: string; namespace?: string }
              data?: { v?: string }
            }
            const where = `${object.metadata.namespace ?? ''}/${object.metadata.name}`
            const row = `${bundle.split('/')[1]}: ${where} ${object.data?.v ?? ''}`.trimEnd()
            rows[metadata.name] = [...(rows[metadata.name] ?? []), row].sort()
          }
        }
      }
      return rows
    },
    status: async (name) => (await hub.find(Application, `argocd/${name}`))?.status,
    async edit(name, change) {
      const found = (await hub.find(Application, `argocd/${name}`))!
      await hub.client.update(Application, change(found))
    },
  }
}
