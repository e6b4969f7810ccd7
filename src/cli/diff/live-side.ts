// Tested by src/cli/commands/preview/diff.contract.test.ts.
/** The side "before" of a comparison with what the hub delivers, or with a revision. */
import type { Client } from '../../client/client.ts'
import { isApiError } from '../../core/errors.ts'
import { nameSome } from '../../core/text/name-some.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Source } from '../../kinds/native/source.ts'
import { listAll, OBJECTS } from '../api/flotilla-resources.ts'
import { keyOfObject } from '../repository/fleet-facts.ts'
import { filesAt } from '../repository/git-repository.ts'
import type { Files, GitRepository } from '../repository/git-repository.ts'
import { deliveredOf } from './delivered.ts'
import type { Delivered, DeliveredPart, DeliveryFacts } from './delivered.ts'
import { readEarlier } from './earlier-content.ts'
import type { DeliveredObject, EarlierContent } from './earlier-content.ts'
import { previewParts, renderedFrom, selectedNames } from './preview.ts'
import type { PreviewSide } from './preview.ts'

/** What the side is read from. */
export interface LiveSideInput {
  readonly side: Pick<PreviewSide, 'facts' | 'textsIn'>
  readonly repository: GitRepository
  /** The Sources of this repository. */
  readonly sources: readonly Source[]
  readonly client: Client
  readonly delivery: DeliveryFacts
}

/** What the hub delivers: each Bundle at the revision of its newest Release. */
export async function liveSide({
  side,
  repository,
  sources,
  client,
  delivery,
}: LiveSideInput): Promise<PreviewSide & { readonly notes: readonly string[] }> {
  const filesOf = new Map<string, Files>()
  const earlier = new Map<string, EarlierContent>()
  const unreleased: string[] = []
  const atCommit = commitReader(repository)
  for (const bundle of side.facts.bundles) {
    const key = keyOfObject(bundle)
    const source = sourceOf(bundle, sources)
    // The content of a Bundle of another repository does not change with this one.
    if (bundle.spec.source && !source) continue
    const delivered = deliveredOf(bundle, () => selectedNames(bundle, side.facts), delivery)
    if (delivered.kind === 'Earlier') {
      earlier.set(key, await earlierOf(bundle, delivered, { side, atCommit, client, delivery }))
      continue
    }
    if (delivered.kind === 'Unknown') {
      const { release } = delivered
      const unknown = `the hub delivers earlier content of release ${release}, and you may not list releases`
      earlier.set(key, { release, parts: [], unknown })
      continue
    }
    if (delivered.kind === 'Nothing') unreleased.push(key)
    if (!source) continue
    const revision = delivered.kind === 'Current' ? delivered.revision : undefined
    const commit = revision === undefined ? source.status?.artifact?.commit : commitOf(revision)
    filesOf.set(key, commit === undefined ? new Map() : await atCommit.require(commit))
  }
  return {
    ...side,
    filesOf: (_source, bundle) => filesOf.get(bundle),
    earlierOf: (bundle) => earlier.get(bundle),
    notes: [
      ...(unreleased.length === 0
        ? []
        : [`no Release yet: ${nameSome(unreleased)}; compared with the definition on the hub and the Source's commit`]),
      ...(delivery.releases
        ? []
        : ['clusters that have not received the newest Release are not counted: you may not list releases']),
    ],
  }
}

/** The same revision for all Sources of this repository. */
export async function sideAt(
  repository: GitRepository,
  revision: string,
  targets: ReadonlySet<string>,
): Promise<Pick<PreviewSide, 'filesOf'>> {
  const files = await filesAt(repository, revision)
  return { filesOf: (source) => (targets.has(source) ? files : undefined) }
}

function sourceOf({ metadata, spec }: Bundle, sources: readonly Source[]): Source | undefined {
  const key = `${metadata.namespace ?? 'default'}/${spec.source?.name}`
  return sources.find((one) => keyOfObject(one) === key)
}

/** The commit of a revision of a Source: `main@sha1:f2ca…`. */
function commitOf(revision: string): string {
  return revision.replace(/^.*sha\d+:/, '')
}

interface CommitReader {
  /** The files of a commit; throws if the clone does not have it. */
  require(commit: string): Promise<Files>
  find(commit: string): Promise<Files | undefined>
}

/** Bundles of the same commit share its files: rendering keeps results by them. */
function commitReader(repository: GitRepository): CommitReader {
  const known = new Map<string, Files>()
  const require = async (commit: string): Promise<Files> => {
    const files = known.get(commit) ?? (await filesAt(repository, commit))
    known.set(commit, files)
    return files
  }
  return {
    require,
    find: async (commit) =>
      known.has(commit) || (await repository.commitOf(commit)) !== undefined ? await require(commit) : undefined,
  }
}

interface EarlierInput extends Pick<LiveSideInput, 'side' | 'client' | 'delivery'> {
  readonly atCommit: CommitReader
}

async function earlierOf(
  bundle: Bundle,
  delivered: Extract<Delivered, { readonly kind: 'Earlier' }>,
  { side, atCommit, client, delivery }: EarlierInput,
): Promise<EarlierContent> {
  const key = keyOfObject(bundle)
  const parts = await previewParts()
  const setOn = (cluster: string) =>
    delivery.assignments
      .find(({ metadata }) => metadata.name === cluster)
      ?.spec.entries.find((entry) => entry.bundle === key)?.set
  return await readEarlier(delivered, {
    filesAt: (revision) => atCommit.find(commitOf(revision)),
    render: (files, cluster) => {
      const whole = { ...side, filesOf: () => files }
      return renderedFrom(bundle, files, { side: whole, names: [cluster], parts })[0]
    },
    witnessOf: ({ clusters, set }: DeliveredPart) => clusters.find((cluster) => setOn(cluster) === set),
    objectsOn: (cluster) => objectsOn(client, bundle, cluster),
    isInline: bundle.spec.source === undefined,
  })
}

async function objectsOn(
  client: Client,
  { metadata: { name, namespace = 'default' } }: Bundle,
  cluster: string,
): Promise<readonly DeliveredObject[] | undefined> {
  try {
    const rows = await listAll(client, OBJECTS, { namespace, fieldSelector: `bundle=${name},cluster=${cluster}` })
    return rows.map(({ object }) => object)
  } catch (caught) {
    if (isApiError(caught, 'NotFound') || isApiError(caught, 'Forbidden')) return undefined
    throw caught
  }
}
