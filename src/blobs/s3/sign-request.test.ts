import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Secret } from '../../core/secret.ts'
import { queryText, signHeaders, signQuery } from './sign-request.ts'

// The examples of "Authenticating Requests: AWS Signature Version 4" in the S3 API reference.
const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: new Secret('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'),
}
const signing = { credentials, region: 'us-east-1', at: Date.UTC(2013, 4, 24) }
const host = 'examplebucket.s3.amazonaws.com'
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

describe('signatures of S3 requests', () => {
  it('are those of the published examples', () => {
    const range = { method: 'GET', host, path: '/test.txt', query: {}, headers: { range: 'bytes=0-9' } }
    assert.match(
      signHeaders(range, EMPTY, signing)['authorization']!,
      /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/20130524\/us-east-1\/s3\/aws4_request, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41$/,
    )
    const list = { method: 'GET', host, path: '/', query: { prefix: 'J', 'max-keys': '2' }, headers: {} }
    assert.match(
      signHeaders(list, EMPTY, signing)['authorization']!,
      /Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7$/,
    )
    const presigned = signQuery({ method: 'GET', host, path: '/test.txt', query: {}, headers: {} }, 86_400, signing)
    assert.equal(presigned['X-Amz-Signature'], 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404')
  })

  it('carry the token of a session, and never the key', () => {
    const session = { ...signing, credentials: { ...credentials, sessionToken: new Secret('session') } }
    const request = { method: 'GET', host, path: '/', query: {}, headers: {} }
    const headers = signHeaders(request, EMPTY, session)
    assert.equal(headers['x-amz-security-token'], 'session')
    assert.match(headers['authorization']!, /SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,/)
    const query = signQuery(request, 5, session)
    assert.equal(query['X-Amz-Security-Token'], 'session')
    for (const sent of [headers, query]) assert.doesNotMatch(JSON.stringify(sent), /wJalrXUtn/)
  })

  it('escape a query as the server does', () => {
    assert.equal(
      queryText({ prefix: "a/b c+!'()*", 'continuation-token': '=&' }),
      'continuation-token=%3D%26&prefix=a%2Fb%20c%2B%21%27%28%29%2A',
    )
  })
})
