// Tested by src/agent/report/claims.test.ts
/** Lists of whole kinds, page by page, for the report. */
import type { Client } from '../../client/client.ts'
import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'

const PAGE = 500
const MAX_PAGES = 20

/** All objects of a kind, at most `pages` of them; undefined when the agent may not read them. */
export async function listAll<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  signal: AbortSignal,
  pages = MAX_PAGES,
): Promise<T[] | undefined> {
  const found: T[] = []
  let next: string | undefined
  try {
    for (let page = 0; page < pages; page++) {
      const options = { limit: PAGE, ...compact({ continue: next }) }
      const answer = await client.list(type, options, signal)
      found.push(...answer.items)
      next = answer.continue
      if (!next) break
    }
    return found
  } catch (caught) {
    if (isApiError(caught, 'Forbidden', 'NotFound')) return undefined
    throw caught
  }
}
