// Tested by src/agent/report/claims.test.ts
/** Lists of whole kinds, page by page, for the report. */
import type { Client } from '../../client/client.ts'
import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'

const PAGE = 500
const MAX_PAGES = 20

/** All objects of a kind, at most those of 20 pages; undefined when the agent may not read them. */
export async function listAll<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  signal: AbortSignal,
): Promise<T[] | undefined> {
  const found: T[] = []
  const take = (items: readonly T[]) => void found.push(...items)
  return (await readPages(client, type, { pages: MAX_PAGES, take, signal })) ? found : undefined
}

/** How to read a kind that may be large. */
interface PageReading<T> {
  readonly pages: number
  /** Takes what is needed of a page, which is then forgotten. */
  readonly take: (items: readonly T[]) => void
  readonly signal: AbortSignal
}

/** Reads the objects of a kind page by page; false when the agent may not read them. */
export async function readPages<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  { pages, take, signal }: PageReading<T>,
): Promise<boolean> {
  let next: string | undefined
  try {
    for (let page = 0; page < pages; page++) {
      const options = { limit: PAGE, ...compact({ continue: next }) }
      const answer = await client.list(type, options, signal)
      take(answer.items)
      next = answer.continue
      if (!next) break
    }
    return true
  } catch (caught) {
    if (isApiError(caught, 'Forbidden', 'NotFound')) return false
    throw caught
  }
}
