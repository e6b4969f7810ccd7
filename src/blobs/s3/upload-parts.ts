/** A large object in parts: a lost connection costs one part, and the object appears only when all parts are there. */
import { inParallel } from '../../core/async/in-parallel.ts'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import type { S3Answer, S3Client, S3Request } from './s3-client.ts'
import { elementText } from './xml-text.ts'

const PART_BYTES = 16 * 1024 * 1024
const AT_ONCE = 3

export async function uploadParts(client: S3Client, key: string, bytes: Uint8Array): Promise<void> {
  const ask = async (request: Omit<S3Request, 'key'>): Promise<S3Answer> => {
    const answer = await client.send({ ...request, key })
    const code = answer.status === 200 && answer.body.byteLength > 0 ? elementText(fromUtf8(answer.body), 'Code') : ''
    // The completion may answer 200 and name its error in the body.
    if (answer.status < 200 || answer.status > 299 || code) {
      throw client.refusal({ ...request, key }, { ...answer, code: code || answer.code })
    }
    return answer
  }
  const begun = await ask({ method: 'POST', query: { uploads: '' } })
  const uploadId = elementText(fromUtf8(begun.body), 'UploadId')
  if (uploadId === undefined) throw new Error(`${client.url}/${key}: the server gave no ID for an upload in parts`)
  try {
    const numbers = Array.from({ length: Math.ceil(bytes.byteLength / PART_BYTES) }, (_, index) => index + 1)
    const etags = new Map<number, string>()
    await inParallel(numbers, AT_ONCE, async (number) => {
      const body = bytes.subarray((number - 1) * PART_BYTES, number * PART_BYTES)
      const { headers } = await ask({ method: 'PUT', query: { partNumber: String(number), uploadId }, body })
      etags.set(number, String(headers['etag']))
    })
    const parts = numbers.map(
      (number) => `<Part><PartNumber>${number}</PartNumber><ETag>${etags.get(number)!}</ETag></Part>`,
    )
    const body = utf8(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
    await ask({ method: 'POST', query: { uploadId }, body })
  } catch (caught) {
    // What cannot be aborted now ends by the lifecycle rule of the bucket.
    await client.send({ method: 'DELETE', key, query: { uploadId } }).catch(() => {})
    throw caught
  }
}
