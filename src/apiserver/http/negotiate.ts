import { ApiError } from '../../core/errors.ts'
import type { HttpRequest } from '../../core/http.ts'
import type { Format } from './respond.ts'

/** Which of its faces an object shows, from the Accept header. */

/** A form other than the object itself. */
export type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'

/** What was agreed on. */
export interface Negotiated extends Format {
  readonly as?: Transform
  /** The version of meta.k8s.io the client wants the form in. */
  readonly version?: string
}

interface MediaType {
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
  readonly quality: number
}

const SUPPORTED = 'application/json, application/yaml'

/** The best form this server has for an Accept header; 406 when it has none. */
export function negotiate(request: HttpRequest, query: URLSearchParams): Negotiated {
  const pretty = wantsPretty(request, query)
  if (request.headers['accept'] === 'application/json') return { mediaType: 'application/json', pretty }
  for (const { type, parameters } of parseAccept(request.headers['accept'] ?? '')) {
    const mediaType = mediaTypeOf(type)
    if (!mediaType) continue
    const { as, g, v } = parameters
    if (as === undefined) return { mediaType, pretty }
    if (g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) continue
    if (as === 'Table' || as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') {
      return { mediaType, pretty, as, version: v }
    }
  }
  throw notAcceptable()
}

/** 406 for a form that an answer does not have. */
export function notAcceptable(): ApiError {
  return new ApiError('NotAcceptable', `only the following media types are accepted: ${SUPPORTED}`)
}

/** The media types of an Accept header, best first. */
export function parseAccept(accept: string): MediaType[] {
  if (accept.trim() === '') return [{ type: 'application/json', parameters: {}, quality: 1 }]
  return accept
    .split(',')
    .map((part): MediaType => {
      const [type = '', ...rest] = part.split(';').map((piece) => piece.trim())
      const parameters = Object.fromEntries(
        rest.map((piece) => {
          const [key = '', value = ''] = piece.split('=', 2)
          return [key.toLowerCase(), value.replaceAll('"', '')]
        }),
      )
      const quality = Number(parameters['q'] ?? '1')
      return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 1 : quality }
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
}

function mediaTypeOf(type: string): Negotiated['mediaType'] | undefined {
  if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'application/json'
  if (type === 'application/yaml') return 'application/yaml'
  return undefined
}

function wantsPretty(request: HttpRequest, query: URLSearchParams): boolean {
  const asked = query.get('pretty')
  if (asked !== null) return !['0', 'false'].includes(asked)
  return /^(curl|Wget|Mozilla\/5\.0)/.test(request.headers['user-agent'] ?? '')
}
