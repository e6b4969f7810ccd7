// npm run measures: the measures of the sources beside their aims. The house test holds those that are rules.
import { measure } from '../test/house/measures.ts'
import type { Spread } from '../test/house/measures.ts'
import { isTest, readSources } from '../test/house/source-tree.ts'

const sources = readSources('src')
const tests = [...sources, ...readSources('test')].filter(({ path }) => isTest(path))
const measures = measure(sources, tests)

const three = ({ median, p90, max }: Spread): string => `${median} / ${p90} / ${max}`
const rows: readonly (readonly [string, string, string])[] = [
  ['source files, lines', `${measures.files}, ${measures.sourceLines}`, ''],
  ['file lines, median / p90 / max', three(measures.fileLines), 'p90 below 300'],
  ['function lines, median / p90 / max', three(measures.functionLines), 'max 120'],
  ['source files in a folder, median / p90 / max', three(measures.folderFiles), 'p90 15, max 20'],
  ['banned words in comments', String(measures.bannedWords), '0'],
  ['indefinite words in 1000 words of comments', measures.indefinitePer1000.toFixed(1), '10'],
  ['source files with a test of their name', `${(100 * measures.testedShare).toFixed(0)} %`, '50 %'],
  ['test lines for a source line', measures.testLinesPerSourceLine.toFixed(2), '0.8'],
  ['conditional spreads', String(measures.conditionalSpreads), '60'],
  ['casts in 1000 lines', measures.castsPer1000.toFixed(2), '3'],
]
process.stdout.write('measure                                        now               aim\n')
for (const [name, now, aim] of rows) process.stdout.write(`${name.padEnd(46)} ${now.padEnd(17)} ${aim}\n`)
process.stdout.write(
  'Exception: test lines for a source line. The renderers, dialects and kinds are judged by recorded answers, golden\n' +
    'outputs and fixtures, which are data and are not counted; their readers are a few lines each.\n',
)
