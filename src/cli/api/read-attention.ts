// Tested by src/cli/commands/observe/status.test.ts.
/** Reads the objects that can need a person, as far as the caller may list them. */
import type { Client } from '../../client/client.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { settleAll } from '../../core/async/settle-all.ts'
import { attentionItems } from '../../plan/fleet/attention.ts'
import type { AttentionFacts, AttentionItem } from '../../plan/fleet/attention.ts'
import { APPLICATION_SETS, BUNDLES, GIT_REPOS, listAll, PLACEMENTS, ROLLOUTS, SOURCES } from './flotilla-resources.ts'
import { readIfAllowed } from './read-if-allowed.ts'

/** Lists of other systems' kinds, which a hub without their dialects does not serve. */
export const DIALECT_LISTS: ReadonlySet<string> = new Set(['gitrepos', 'applicationsets'])

/** What needs a person, and the kinds that the caller may not list. */
export interface ReadAttention {
  readonly facts: AttentionFacts
  readonly items: readonly AttentionItem[]
  readonly refused: readonly string[]
}

/** Reads all namespaces, or one. `clusters` are those that the caller has read. */
export async function readAttention(
  client: Pick<Client, 'list'>,
  { namespace, clusters }: { readonly namespace?: string | undefined; readonly clusters: readonly Cluster[] },
): Promise<ReadAttention> {
  const scope = namespace === undefined ? {} : { namespace }
  const [rollouts, sources, bundles, placements, repositories, sets] = await settleAll([
    readIfAllowed('rollouts', listAll(client, ROLLOUTS, scope)),
    readIfAllowed('sources', listAll(client, SOURCES, scope)),
    readIfAllowed('bundles', listAll(client, BUNDLES, scope)),
    readIfAllowed('placements', listAll(client, PLACEMENTS, scope)),
    readIfAllowed('gitrepos', listAll(client, GIT_REPOS, scope)),
    readIfAllowed('applicationsets', listAll(client, APPLICATION_SETS, scope)),
  ])
  const facts = {
    rollouts: rollouts.items,
    sources: sources.items,
    bundles: bundles.items,
    placements: placements.items,
    clusters,
    repositories: [...repositories.items, ...sets.items],
  }
  const refused = [rollouts, sources, bundles, placements, repositories, sets].flatMap((list) => list.refused ?? [])
  return { facts, items: attentionItems(facts), refused }
}
