import { expect, test } from 'bun:test'
import { labelsOfItems, readPassages } from '../../../src/knowledge/search/passages.ts'
import { startService } from '../../support/service.ts'

const service = await startService()

test('passages and labels of another project are left out, whoever asks for them', async () => {
  const { database, knowledge } = service.services
  const [own, other] = [await service.mintProject(), await service.mintProject()]
  const add = async ({ projectId }: { projectId: number }) => {
    const { item, labels } = await knowledge.store(projectId, { name: 'Shop', text: 'A refund.' })
    return { id: item.id, labels }
  }
  const [ours, theirs] = [await add(own), await add(other)]
  const read = await readPassages(database.read, own.projectId, [...theirs.labels, ...ours.labels])
  expect(read.passages.map(({ itemId }) => itemId)).toEqual([ours.id])
  expect(await labelsOfItems(database.read, own.projectId, [theirs.id, ours.id])).toEqual(ours.labels)
})
