/** A plain http listener for Prometheus and for probes: metrics, liveness and readiness, read only. */
import type { ServerResponse } from 'node:http'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import type { ListenAddress } from '../http/listen-address.ts'
import { listenOn } from '../http/listen.ts'
import type { Listening } from '../http/listen.ts'
import { createPlainServer } from '../http/plain-server.ts'
import { METRICS_TYPE } from './metrics-page.ts'

/** Answers a scrape; a failure is a 500 with the reason, so that Prometheus shows the target as down. */
export async function sendMetrics(response: ServerResponse, text: () => Promise<string>): Promise<void> {
  try {
    const page = await text()
    response.writeHead(200, { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' }).end(page)
  } catch (caught) {
    const body = `the metrics cannot be collected: ${toError(caught).message}\n`
    response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(body)
  }
}

/** What the listener needs. */
export interface MetricsListenerOptions {
  readonly listen: ListenAddress
  readonly text: () => Promise<string>
  /** Why the hub is not ready; undefined when all of its parts run. */
  readonly notReady: () => string | undefined
  readonly log: Logger
}

/** Starts the listener. */
export async function listenForMetrics({ listen, text, notReady, log }: MetricsListenerOptions): Promise<Listening> {
  const server = createPlainServer({
    name: 'metrics',
    log,
    async answer(request, response, { path }) {
      if (request.method === 'GET' && path === '/metrics') return await sendMetrics(response, text)
      const isProbe = request.method === 'GET' && (path === '/livez' || path === '/readyz')
      const problem = path === '/readyz' ? notReady() : undefined
      const [status, body] = isProbe
        ? problem === undefined
          ? [200, 'ok']
          : [500, `not ready: ${problem}\n`]
        : [404, 'only GET /metrics, /livez and /readyz\n']
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(body)
    },
  })
  return await listenOn(server, listen)
}
