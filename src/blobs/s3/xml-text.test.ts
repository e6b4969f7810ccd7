import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { elementText, elementTexts } from './xml-text.ts'

describe('texts in XML answers', () => {
  it('finds elements in order, and elements inside of one', () => {
    const xml =
      '<?xml version="1.0"?><R xmlns="x"><Contents><Key>a</Key></Contents><Contents><Key>b</Key></Contents><Code/></R>'
    assert.deepEqual(
      [...elementTexts(xml, 'Contents')].map((entry) => elementText(entry, 'Key')),
      ['a', 'b'],
    )
    assert.equal(elementText(xml, 'Code'), undefined)
    assert.equal(elementText('<Key>no end', 'Key'), undefined)
  })

  it('opens entities once', () => {
    assert.equal(elementText('<T>a&amp;lt;&#65;&#x42;&quot;&unknown;</T>', 'T'), 'a&lt;AB"&unknown;')
  })
})
