import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { formatJoinCode, parseJoinCode, tokenHash, tokenSecret } from './join-code.ts'

const code = {
  endpoints: ['https://hub.example:7444', 'https://[fd00::1]:7444'],
  root: digestOf('root'),
  token: { name: 'store-042', secret: tokenSecret(new Uint8Array(32).fill(7)) },
}

describe('join codes', () => {
  it('survive being printed and pasted', () => {
    const text = formatJoinCode(code)
    assert.match(text, /^[A-Za-z0-9._-]+$/)
    assert.deepEqual(parseJoinCode(`  ${text}\n`), code)
    assert.equal(tokenHash(code.token.secret).length, 64)
  })

  it('say what is wrong with them and never show the secret', () => {
    const text = formatJoinCode(code)
    const cases: [string, RegExp][] = [
      ['', /does not begin with "flotilla1\."/],
      ['curl https://x | sh', /does not begin/],
      [text.replace('flotilla1', 'flotilla2'), /newer agent \(flotilla2\)/],
      [text.slice(0, 40), /cut short/],
      [text.slice(0, -1), /checksum does not match/],
      [text.replace('.', '.A'), /checksum/],
      [`${text}.x`, /cut short/],
      ['flotilla1.'.padEnd(5000, 'a'), /longer than/],
      [formatJoinCode({ ...code, endpoints: ['http://hub'] }), /want https:\/\/host:port/],
      [formatJoinCode({ ...code, endpoints: ['https://hub/path'] }), /want https/],
      [formatJoinCode({ ...code, endpoints: [] }), /join code\.u/],
    ]
    for (const [pasted, problem] of cases) {
      assert.throws(
        () => parseJoinCode(pasted),
        (caught) =>
          caught instanceof Error && problem.test(caught.message) && !caught.message.includes(code.token.secret),
        pasted,
      )
    }
  })

  it('notice any single changed character', () => {
    const text = formatJoinCode(code)
    for (let i = 0; i < text.length; i++) {
      const flipped = text.slice(0, i) + (text[i] === 'x' ? 'y' : 'x') + text.slice(i + 1)
      assert.throws(() => parseJoinCode(flipped), `character ${i}`)
    }
  })
})
