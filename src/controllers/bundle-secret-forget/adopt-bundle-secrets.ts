/** Secrets of bundles from the time before they were marked: found once at every start, by who made them and what is in them. */
import type { Client } from '../../client/client.ts'
import { isApiError } from '../../core/errors.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { preconditionsFor } from '../writes/preconditions.ts'
import {
  BUNDLE_SECRET_DATA,
  BUNDLE_SECRET_LABEL,
  BUNDLE_SECRET_MAKER,
  bundleSecret,
  bundleSecretName,
} from '../secrets/bundle-secrets.ts'

const PAGE = 200

/** The mark for a Secret that is a bundle's and has none; a Secret that somebody else made has a bundle's name by chance. */
function markFor({ metadata, data = {} }: Secret): Pick<Secret['metadata'], 'labels' | 'annotations'> | undefined {
  const { namespace = '', name, labels = {}, managedFields = [] } = metadata
  const own = bundleSecretName(name)
  if (!own || labels[BUNDLE_SECRET_LABEL] !== undefined || metadata.deletionTimestamp) return undefined
  const isOurs = managedFields.some(({ manager }) => manager === BUNDLE_SECRET_MAKER)
  if (!isOurs || data[BUNDLE_SECRET_DATA[own.kind]] === undefined) return undefined
  const { labels: mark, annotations } = bundleSecret(`${namespace}/${own.bundle}`, own.kind)
  return { labels: mark!, annotations: annotations! }
}

/** Marks them; how many. */
export async function adoptBundleSecrets(client: Client, signal: AbortSignal): Promise<number> {
  let adopted = 0
  let from: string | undefined
  do {
    const select = { labelSelector: `!${BUNDLE_SECRET_LABEL}`, fieldSelector: 'type=Opaque', limit: PAGE }
    const page = await client.list(Secret, { ...select, ...(from === undefined ? {} : { continue: from }) }, signal)
    for (const secret of page.items) {
      const mark = markFor(secret)
      if (!mark) continue
      const { namespace = '', name } = secret.metadata
      const body = { metadata: { ...mark, ...preconditionsFor(secret.metadata) } }
      try {
        await client.patch(Secret, { namespace, name }, { type: 'merge', body }, { fieldManager: BUNDLE_SECRET_MAKER })
        adopted += 1
      } catch (caught) {
        // It changed or went meanwhile; the next start looks again.
        if (!isApiError(caught, 'NotFound', 'Conflict')) throw caught
      }
    }
    from = page.continue
  } while (from !== undefined && from !== '')
  return adopted
}
