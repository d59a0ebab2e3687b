import { describe, expect, test } from 'bun:test'
import { startService } from '../../support/service.ts'

const documents = {
  Chinese: '我们在三十天内办理退款。请联系客服团队。',
  'Chinese shipping': '订单在两天内发货，运费另计。',
  Japanese: '三十日以内に返品できます。データはカタカナで書きます。',
  'Japanese hours': '営業時間は平日の九時から五時までです。',
  Thai: 'เราคืนเงินภายในสามสิบวัน ติดต่อฝ่ายบริการลูกค้า',
  'Thai shipping': 'จัดส่งสินค้าภายในสองวัน ที่นี่',
  Korean: '환불은 삼십일 이내에 가능합니다. 고객센터로 연락하세요.',
  'Korean shipping': '배송은 이틀 안에 됩니다.',
  Hindi: 'तीस दिनों के भीतर धनवापसी मिलेगी।',
  Arabic: 'نعيد المال خلال ثلاثين يومًا.',
  Russian: 'Мы вернём деньги в течение тридцати дней.',
  Greek: 'Επιστρέφουμε τα χρήματα σε τριάντα ημέρες.',
  French: 'Remboursement sous trente jours ; crème brûlée offerte à Noël.',
  German: 'Rückerstattung innerhalb von dreißig Tagen, Größe egal.',
  'German from a page': 'Die Ver\u00adsand\u00adkosten trägt der Kunde.',
  Vietnamese: 'Hoàn tiền trong vòng ba mươi ngày, gọi điện thoại.',
  Mixed: 'Callbookの料金はＡＢＣ１２プランで決まります。',
}

const queries: [query: string, name: keyof typeof documents][] = [
  ['退款', 'Chinese'],
  ['怎么退款？', 'Chinese'],
  ['客服', 'Chinese'],
  ['发货', 'Chinese shipping'],
  ['费', 'Chinese shipping'],
  ['返品', 'Japanese'],
  ['ﾃﾞｰﾀ', 'Japanese'],
  ['営業時間は何時ですか', 'Japanese hours'],
  ['คืนเงิน', 'Thai'],
  ['ลูกค้า', 'Thai'],
  ['ที่นี่', 'Thai shipping'],
  ['환불', 'Korean'],
  ['고객센터', 'Korean'],
  ['배송이 언제', 'Korean shipping'],
  ['धनवापसी', 'Hindi'],
  ['المال', 'Arabic'],
  ['ДЕНЬГИ', 'Russian'],
  ['вернем', 'Russian'],
  ['يوما', 'Arabic'],
  ['χρηματα', 'Greek'],
  ['creme brulee', 'French'],
  ['cre\u0300me bru\u0302le\u0301e', 'French'],
  ['NOEL', 'French'],
  ['ruckerstattung', 'German'],
  ['grosse größe', 'German'],
  ['Versandkosten', 'German from a page'],
  ['Ver\u00adsandkosten', 'German from a page'],
  ['dien thoai', 'Vietnamese'],
  ['料金', 'Mixed'],
  ['abc12', 'Mixed'],
  ['callbook', 'Mixed'],
]

const service = await startService()
const project = await service.mintProject()
const ids = new Map()
for (const [n, text] of Object.values(documents).entries()) {
  const answer = await project.send('POST', '/v1/knowledge', { name: `Item ${n}`, text })
  const { id }: { id: string } = await answer.json()
  ids.set(Object.keys(documents)[n] ?? '', id)
}

describe('over HTTP, by keyword', () => {
  for (const [query, name] of queries)
    test(`${query} finds ${name}`, async () => {
      const answer = await project.send('POST', '/v1/knowledge/search', { query, mode: 'keyword' })
      const { data }: { data: { itemId: string }[] } = await answer.json()
      expect(data[0]?.itemId).toBe(ids.get(name) ?? '')
    })

  test('what is in no text is not found, in any script', async () => {
    for (const query of ['保修', 'カメラ', 'รถยนต์', '자동차', 'гарантия', 'εγγύηση', 'garantie']) {
      const answer = await project.send('POST', '/v1/knowledge/search', { query, mode: 'keyword' })
      expect({ query, ...(await answer.json()) }).toMatchObject({ query, data: [] })
    }
  })
})
