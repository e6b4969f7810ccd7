/**
 * Labels Secrets of Bundles that were created before the label existed; each start of the hub looks for them by field
 * manager and data.
 */
import type { Client } from '../../client/client.ts'
import { compact } from '../../core/compact.ts'
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

/**
 * The label for a Secret that bundle-render created without one; another field manager's Secret has a similar name by
 * chance.
 */
function markFor({ metadata, data = {} }: Secret): Pick<Secret['metadata'], 'labels' | 'annotations'> | undefined {
  const { namespace = '', name, labels = {}, managedFields = [] } = metadata
  const own = bundleSecretName(name)
  if (!own || labels[BUNDLE_SECRET_LABEL] !== undefined || metadata.deletionTimestamp) return undefined
  const isOurs = managedFields.some(({ manager }) => manager === BUNDLE_SECRET_MAKER)
  if (!isOurs || data[BUNDLE_SECRET_DATA[own.kind]] === undefined) return undefined
  const { labels: mark, annotations } = bundleSecret(`${namespace}/${own.bundle}`, own.kind)
  return { labels: mark!, annotations: annotations! }
}

/** Returns the number of Secrets that it labelled. */
export async function adoptBundleSecrets(client: Client, signal: AbortSignal): Promise<number> {
  let adopted = 0
  let from: string | undefined
  do {
    const select = { labelSelector: `!${BUNDLE_SECRET_LABEL}`, fieldSelector: 'type=Opaque', limit: PAGE }
    const page = await client.list(Secret, { ...select, ...compact({ continue: from }) }, signal)
    for (const secret of page.items) {
      const mark = markFor(secret)
      if (!mark) continue
      const { namespace = '', name } = secret.metadata
      const body = { metadata: { ...mark, ...preconditionsFor(secret.metadata) } }
      try {
        await client.patch(Secret, { namespace, name }, { type: 'merge', body }, { fieldManager: BUNDLE_SECRET_MAKER })
        adopted += 1
      } catch (caught) {
        // The Secret changed or is gone; the next start tries again.
        if (!isApiError(caught, 'NotFound', 'Conflict')) throw caught
      }
    }
    from = page.continue
  } while (from !== undefined && from !== '')
  return adopted
}
