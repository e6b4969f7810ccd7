// Tested by src/cli/commands/observe/status.test.ts.
/** Reads the objects that can need a person, as far as the caller may list them. */
import type { Client } from '../../client/client.ts'
import { settleAll } from '../../core/async/settle-all.ts'
import { attentionItems } from '../../plan/fleet/attention.ts'
import type { AttentionFacts, AttentionItem } from '../../plan/fleet/attention.ts'
import { BUNDLES, listAll, PLACEMENTS, ROLLOUTS, SOURCES } from './flotilla-resources.ts'
import { readIfAllowed } from './read-if-allowed.ts'

/** What needs a person, and the kinds that the caller may not list. */
export interface ReadAttention {
  readonly facts: AttentionFacts
  readonly items: readonly AttentionItem[]
  readonly refused: readonly string[]
}

/** Reads all namespaces, or one. */
export async function readAttention(client: Pick<Client, 'list'>, namespace?: string): Promise<ReadAttention> {
  const scope = namespace === undefined ? {} : { namespace }
  const [rollouts, sources, bundles, placements] = await settleAll([
    readIfAllowed('rollouts', listAll(client, ROLLOUTS, scope)),
    readIfAllowed('sources', listAll(client, SOURCES, scope)),
    readIfAllowed('bundles', listAll(client, BUNDLES, scope)),
    readIfAllowed('placements', listAll(client, PLACEMENTS, scope)),
  ])
  const facts = {
    rollouts: rollouts.items,
    sources: sources.items,
    bundles: bundles.items,
    placements: placements.items,
  }
  const refused = [rollouts, sources, bundles, placements].flatMap((list) => list.refused ?? [])
  return { facts, items: attentionItems(facts), refused }
}
