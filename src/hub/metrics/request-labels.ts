/** Which request it was, from closed sets: a caller that invents paths makes no new series. */
import { requestInfo } from '../../apiserver/http/request-info.ts'
import type { HttpRequest } from '../../core/http.ts'
import type { MetricLabels } from '../../core/metrics.ts'
import { ROUTES } from '../../wire/link/frames.ts'

/**
 * The verb of a request to the API, as authorizers know it; `other` for discovery, health and what cannot be read.
 */
export function verbLabel(request: HttpRequest): MetricLabels {
  try {
    return { verb: requestInfo(request).resource?.verb ?? 'other' }
  } catch {
    return { verb: 'other' } // the API answers it with its own refusal
  }
}

/** The route of a request to the gateway; `other` for paths that do not exist. */
export function routeLabel({ path }: HttpRequest): MetricLabels {
  const [bare = ''] = path.split('?', 1)
  const known = Object.entries(ROUTES).find(([, route]) =>
    route.endsWith('/') ? bare.startsWith(route) : bare === route,
  )
  return { route: known?.[0] ?? 'other' }
}
