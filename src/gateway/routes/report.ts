/** `POST /agent/v1/report` and `POST /agent/v1/check-in`. */
import type { HttpResponse } from '../../core/http.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { LoadShedder } from '../load-shedder.ts'
import type { RateLimiter } from '../rate-limit.ts'
import type { Reports } from '../reports.ts'
import { jsonResponse } from '../responses.ts'
import type { GatewayRequest } from './route.ts'

export interface ReportHandlerPorts {
  readonly reports: Pick<Reports, 'report' | 'checkIn'>
  readonly load: LoadShedder
  readonly reportLimit: RateLimiter
  readonly reportBytesLimit: RateLimiter
}

export function createReportHandlers({ reports, load, reportLimit, reportBytesLimit }: ReportHandlerPorts) {
  return {
    async report(cluster: Cluster, { body, headers }: GatewayRequest): Promise<HttpResponse> {
      reportLimit.take(cluster.spec.id)
      reportBytesLimit.take(cluster.spec.id, body.byteLength)
      return jsonResponse(await load.track(() => reports.report(cluster, body, headers)))
    },
    checkIn: (cluster: Cluster, { body }: GatewayRequest): HttpResponse => jsonResponse(reports.checkIn(cluster, body)),
  }
}
