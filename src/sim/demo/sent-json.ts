import type { IncomingMessage } from 'node:http'

/** The JSON that a request brings; undefined when it is none, or larger than allowed. */
export async function sentJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  // The rest is read and dropped, so that the client hears the refusal.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= maxBytes) chunks.push(chunk)
  }
  try {
    return size <= maxBytes ? (JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown) : undefined
  } catch {
    return undefined
  }
}
