/** A plain http listener for Prometheus: one path, read only. */
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toError } from '../../core/errors.ts'
import type { ListenAddress } from '../addresses.ts'
import { METRICS_TYPE } from './metrics-page.ts'

/** A listener that is ready. */
export interface MetricsListener {
  readonly port: number
  close(): Promise<void>
}

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

/** Starts the listener. */
export async function listenForMetrics(listen: ListenAddress, text: () => Promise<string>): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    const isScrape = request.method === 'GET' && new URL(request.url ?? '/', 'http://metrics').pathname === '/metrics'
    if (isScrape) return void sendMetrics(response, text)
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('only GET /metrics\n')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(listen.port, listen.host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
