// Tested by src/cli/commands/preview/diff-fleet.contract.test.ts.
/** Bundles that the hub compiles from GitRepos of Rancher Fleet, compiled again with the files of a change. */
import type { Client } from '../../client/client.ts'
import { settleAll } from '../../core/async/settle-all.ts'
import type { KubeObject, UnknownObject } from '../../kinds/meta.ts'
import type { Source } from '../../kinds/native/source.ts'
import { fleetResource, listAll } from '../api/flotilla-resources.ts'
import { readIfAllowed } from '../api/read-if-allowed.ts'
import { keyOfObject, withObjects } from '../repository/fleet-facts.ts'
import type { FleetFacts } from '../repository/fleet-facts.ts'
import type { Files } from '../repository/git-repository.ts'

/** The label of objects that a GitRepo made. */
const REPO_LABEL = 'fleet.cattle.io/repo-name'

/** The fleet after a change of the files. */
export interface FleetAfter {
  readonly facts: FleetFacts
  /** Whether GitRepos follow the Sources. */
  readonly hasRepositories: boolean
  /** Bundles (`namespace/name`) that the change removes. */
  readonly removed: ReadonlySet<string>
  /** Bundles that cannot be compared, with the reason. */
  readonly unknown: ReadonlyMap<string, string>
}

/** Compiles the GitRepos of these Sources with other files. Without Bundles of GitRepos nothing is read. */
export async function afterCompiling(
  client: Client,
  facts: FleetFacts,
  { sources, files }: { readonly sources: readonly Source[]; readonly files: Files },
): Promise<FleetAfter> {
  const own = new Set(sources.filter(({ metadata }) => metadata.labels?.[REPO_LABEL] !== undefined).map(keyOfObject))
  const hasRepositories = own.size > 0
  if (!hasRepositories) return { facts, hasRepositories, removed: new Set(), unknown: new Map() }
  const [repos, groups] = await settleAll([
    readIfAllowed('gitrepos', listAll(client, fleetResource<KubeObject>('GitRepo'))),
    readIfAllowed('clustergroups', listAll(client, fleetResource<UnknownObject>('ClusterGroup'))),
  ])
  const refused = repos.refused ?? groups.refused
  if (refused !== undefined) {
    const ofRepos = facts.bundles.filter(({ metadata, spec }) =>
      own.has(`${metadata.namespace ?? 'default'}/${spec.source?.name}`),
    )
    const why = `the Bundle is compiled from a GitRepo, and you may not list ${refused}.fleet.cattle.io`
    const unknown = new Map(ofRepos.map((bundle) => [keyOfObject(bundle), why]))
    return { facts, hasRepositories, removed: new Set(), unknown }
  }
  const { previewRepositories } = await import('../../dialects/fleet/compile/preview-repository.ts')
  const { objects, removed, broken } = previewRepositories({
    // The Source of a GitRepo has the name of the GitRepo.
    repos: repos.items.filter((repo) => own.has(keyOfObject(repo))) as never,
    groups: groups.items,
    clusters: facts.clusters,
    bundles: facts.bundles,
    present: {
      Bundle: facts.bundles,
      Placement: facts.placements,
      RolloutPlan: facts.plans,
      Source: facts.sources,
    },
    files,
  })
  const after = withObjects(facts, objects)
  const gone = new Set(removed)
  return {
    hasRepositories,
    facts: { ...after, bundles: after.bundles.filter((bundle) => !gone.has(keyOfObject(bundle))) },
    removed: gone,
    unknown: broken,
  }
}
