/** Reads the maintenance of a hub, as far as the caller may. */
import type { Reader } from '../../client/client.ts'
import { isApiError } from '../../core/errors.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { HUB_HEALTH, parseHubHealth } from '../../plan/fleet/hub-health.ts'
import type { HubHealth } from '../../plan/fleet/hub-health.ts'
import { HUB_MAINTENANCE, parseMaintenance } from '../../plan/fleet/hub-maintenance.ts'
import type { Maintenance } from '../../plan/fleet/hub-maintenance.ts'

/** Undefined if there is none, or if the caller may not read it. */
export async function readMaintenance(client: Pick<Reader, 'get'>): Promise<Maintenance | undefined> {
  try {
    return parseMaintenance((await client.get(ConfigMap, HUB_MAINTENANCE)).data)
  } catch (caught) {
    if (isApiError(caught, 'NotFound', 'Forbidden')) return undefined
    throw caught
  }
}

/** The health that the hubs of an API publish, by their names. Undefined if the caller may not read it. */
export async function readHubHealth(
  client: Pick<Reader, 'get'>,
): Promise<{ readonly name: string; readonly health: HubHealth | undefined }[] | undefined> {
  try {
    const { data = {} } = await client.get(ConfigMap, HUB_HEALTH)
    return Object.entries(data)
      .map(([name, text]) => ({ name, health: parseHubHealth(text) }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch (caught) {
    if (isApiError(caught, 'Forbidden')) return undefined
    if (isApiError(caught, 'NotFound')) return []
    throw caught
  }
}
