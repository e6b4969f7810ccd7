/** Every relative link of the documentation leads to a file, and every page of docs/ can be reached from its index. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { REPOSITORY } from './source-tree.ts'

interface Link {
  readonly page: string
  readonly target: string
  readonly anchor: string | undefined
}

const PAGES = globSync('{*.md,{docs,src,integrations,changes,bench,charts,scripts,console,.github}/**/*.md}', {
  cwd: REPOSITORY,
})
  .filter((path) => !path.includes('node_modules') && !path.includes('testdata'))
  .toSorted()

/** The relative links of a page; code blocks and code spans do not count. */
function linksOf(page: string, text: string): Link[] {
  const prose = text.replaceAll(/```[\s\S]*?```/g, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#')
      return { page, target: path === '' ? page : normalize(join(dirname(page), path)).replace(/\/$/, ''), anchor }
    })
}

/** The anchors of a page's headings, as GitHub makes them, and those written as `<a id>`. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
  return new Set([...headings, ...[...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, id]) => id!)])
}

function brokenLinks(links: readonly Link[]): string[] {
  return links.flatMap(({ page, target, anchor }) => {
    const path = join(REPOSITORY, target)
    if (!existsSync(path)) return [`${page}: no such file ${target}`]
    if (anchor === undefined || !target.endsWith('.md')) return []
    return anchorsOf(readFileSync(path, 'utf8')).has(anchor) ? [] : [`${page}: ${target} has no heading #${anchor}`]
  })
}

test('every relative link leads to a file and a heading', () => {
  assert.ok(PAGES.length > 50)
  const links = PAGES.flatMap((page) => linksOf(page, readFileSync(join(REPOSITORY, page), 'utf8')))
  assert.ok(links.length > 100)
  assert.deepEqual(brokenLinks(links), [])
})

test('every page of docs/ can be reached from docs/README.md', () => {
  const reached = new Set<string>()
  const waiting = ['docs/README.md']
  for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
    if (reached.has(page)) continue
    reached.add(page)
    for (const { target } of linksOf(page, readFileSync(join(REPOSITORY, page), 'utf8'))) {
      if (target.startsWith('docs/') && target.endsWith('.md') && existsSync(join(REPOSITORY, target)))
        waiting.push(target)
      if (target === 'docs/kinds') for (const kind of PAGES) if (kind.startsWith('docs/kinds/')) waiting.push(kind)
    }
  }
  const pages = PAGES.filter((page) => page.startsWith('docs/'))
  assert.deepEqual(
    pages.filter((page) => !reached.has(page)),
    [],
  )
})

test('a broken link is found', () => {
  assert.equal(brokenLinks(linksOf('docs/x.md', 'see [a](missing.md)')).length, 1)
  assert.equal(brokenLinks(linksOf('docs/x.md', 'see [a](glossary.md#no-such-heading)')).length, 1)
  assert.equal(brokenLinks(linksOf('docs/x.md', '`[a](missing.md)`')).length, 0)
})

/** Links such as [`planRollout`](../../src/plan/rollout/plan-rollout.ts) name a function or type of that file. */
function missingNames(page: string, text: string): string[] {
  return [...text.matchAll(/\[`(\w+)`\]\(([^)]+\.ts)\)/g)].flatMap(([, name, path]) => {
    const file = join(REPOSITORY, dirname(page), path!)
    if (!existsSync(file)) return [`${page}: no such file ${path}`]
    const declared = new RegExp(`\\b(?:function|const|interface|type|class) ${name}\\b`).test(
      readFileSync(file, 'utf8'),
    )
    return declared ? [] : [`${page}: ${path} declares no ${name}`]
  })
}

test('the pages about the inside name functions that exist', () => {
  const pages = PAGES.filter((page) => page.startsWith('docs/inside/'))
  assert.ok(pages.length >= 6)
  assert.deepEqual(
    pages.flatMap((page) => missingNames(page, readFileSync(join(REPOSITORY, page), 'utf8'))),
    [],
  )
  assert.equal(missingNames('docs/inside/x.md', '[`nothing`](../../src/plan/rollout/plan-rollout.ts)').length, 1)
})
