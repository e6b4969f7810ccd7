/** A plain http listener for Prometheus: one path, read only. */
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
  readonly log: Logger
}

/** Starts the listener. */
export async function listenForMetrics({ listen, text, log }: MetricsListenerOptions): Promise<Listening> {
  const server = createPlainServer({
    name: 'metrics',
    log,
    async answer(request, response, { path }) {
      if (request.method === 'GET' && path === '/metrics') return await sendMetrics(response, text)
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('only GET /metrics\n')
    },
  })
  return await listenOn(server, listen)
}
